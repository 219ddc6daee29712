import { Topic } from '@vigil/events';
import { type Log, type Logger, type RunningPart, runReactor } from '@vigil/stream';
import type { sinkNames } from './config.ts';
import { consoleSink } from './console-sink.ts';
import { deliver } from './delivery.ts';
import type { Sink } from './sink.ts';

type SinkName = (typeof sinkNames)[number];
type World = { readonly write: (line: string) => void; readonly logger: Logger };

/** To add a sink: its name in config.ts, and how it is made here. */
const made: Readonly<Record<SinkName, (world: World) => Sink>> = { console: ({ write }) => consoleSink(write) };

/** Alerts in delivery at once, a sink. */
const maxInFlight = 16;

/** A reactor a sink, so that a slow one holds up no other. */
export async function runDeliveries(log: Log, names: readonly SinkName[], world: World) {
  await using opened = new AsyncDisposableStack();
  const reactors: RunningPart[] = [];
  for (const name of new Set(names)) {
    const sink = made[name](world);
    const options = { group: `alerting-${name}`, service: 'alerting', reads: [Topic.alert], maxInFlight } as const;
    const react = { react: deliver(sink), logger: world.logger };
    reactors.push(opened.use(await runReactor<typeof Topic.alert, typeof Topic.alert>(log, { ...options, ...react })));
  }
  const kept = opened.move();
  return {
    ready: () => reactors.every((reactor) => reactor.ready()),
    finished: Promise.race(reactors.map(({ finished }) => finished)),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
