/** The kinds of sinks that alerting has; a channel is often named after its kind. */
export const SINK_KINDS = ['webhook', 'command', 'files'] as const;
export type SinkKind = (typeof SINK_KINDS)[number];
