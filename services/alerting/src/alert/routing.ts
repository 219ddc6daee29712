/** Whoever asks for no channel, or for one that nobody has configured, means this one. */
export const DEFAULT = 'default';
/** Always there. */
export const CONSOLE = 'console';
/** The alert of a sink that does not do its work; the label `sink` says which. */
export const SINK_FAILING = 'sink_failing';

/** The channels of the configuration: what DEFAULT stands for, and all that there are. */
export type Routing = { readonly defaults: readonly string[]; readonly configured: readonly string[] };

export const consoleOnly: Routing = { defaults: [CONSOLE], configured: [CONSOLE] };

type Addressed = {
  readonly route: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly channels: readonly string[];
};

/** Asked for, and in nobody's configuration. */
export const unknownOf = (
  channels: readonly string[],
  { configured }: Pick<Routing, 'configured'>,
): readonly string[] => channels.filter((channel) => channel !== DEFAULT && !configured.includes(channel));

/** Who is told: nothing is dropped because of a name; of a failing sink all others hear. At least one. */
export function sinksOf({ route, labels, channels }: Addressed, routing: Routing): readonly string[] {
  const { defaults, configured } = routing;
  if (route === SINK_FAILING) return orConsole(configured.filter((name) => name !== labels.sink));
  const unknown = unknownOf(channels, routing);
  const named = (channels.length === 0 ? [DEFAULT] : channels).flatMap((channel) =>
    channel === DEFAULT || unknown.includes(channel) ? defaults : [channel],
  );
  return orConsole([...new Set(unknown.length > 0 ? [...named, CONSOLE] : named)]);
}

const orConsole = (names: readonly string[]): readonly string[] => (names.length > 0 ? names : [CONSOLE]);
