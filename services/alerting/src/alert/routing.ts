/** The channel of a notice that names none, or an unconfigured one. */
export const DEFAULT = 'default';
/** Always there. */
export const CONSOLE = 'console';
/** The route of alerts about a failing sink; the label `sink` names it. */
export const SINK_FAILING = 'sink_failing';

/** The key of the state that holds back deliveries. No alert has it. */
export const GATES_KEY = 'gates';

/** The route of alerts about a service of Vigil that stands still; the label `service` names it. */
export const SERVICE_STANDING = 'service_standing';

/** The route of a test message to one channel. */
export const TEST_ROUTE = 'channel_test';

/** Processes report these about themselves and each other, by their own clocks, and no related alert follows. */
export const OF_VIGIL: ReadonlySet<string> = new Set([SINK_FAILING, SERVICE_STANDING]);

/** The channels of the configuration: the default ones, and all of them. */
export type Routing = { readonly defaults: readonly string[]; readonly configured: readonly string[] };

export const consoleOnly: Routing = { defaults: [CONSOLE], configured: [CONSOLE] };

type Addressed = {
  readonly route: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly channels: readonly string[];
};

/** Requested, but not configured. */
export const unknownOf = (
  channels: readonly string[],
  { configured }: Pick<Routing, 'configured'>,
): readonly string[] => channels.filter((channel) => channel !== DEFAULT && !configured.includes(channel));

/** The sinks of an alert, at least one. An unknown name drops nothing; a failing sink is reported to all others. */
export const sinksOf = ({ route, labels, channels }: Addressed, routing: Routing): readonly string[] => {
  const { defaults, configured } = routing;
  if (route === SINK_FAILING) return orConsole(configured.filter((name) => name !== labels.sink));
  const unknown = unknownOf(channels, routing);
  const named = (channels.length === 0 ? [DEFAULT] : channels).flatMap((channel) =>
    channel === DEFAULT || unknown.includes(channel) ? defaults : [channel],
  );
  return orConsole([...new Set(unknown.length > 0 ? [...named, CONSOLE] : named)]);
};

const orConsole = (names: readonly string[]): readonly string[] => (names.length > 0 ? names : [CONSOLE]);
