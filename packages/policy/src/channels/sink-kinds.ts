/** The kinds of sinks of alerting. A channel is often named after its kind. */
export const SINK_KINDS = [
  'slack',
  'slack_webhook',
  'ntfy',
  'pagerduty',
  'alertmanager',
  'linear',
  'webhook',
  'command',
  'files',
] as const;
export type SinkKind = (typeof SINK_KINDS)[number];
