import { Topic } from '@vigil/events';
import { type Count, type Log, type Logger, Retry, type RunningPart, runReactor, writer } from '@vigil/stream';
import type { Notify } from '../notices/notice.ts';
import { deliveredIn } from './delivered.ts';
import { type DeliveryDeps, deliver } from './delivery.ts';
import type { Sink } from './sink.ts';

type DeliveriesDeps = Pick<DeliveryDeps, 'now' | 'random'> & { readonly logger: Logger; readonly count: Count };

/** Alerts in delivery at once, a sink. */
const maxInFlight = 16;

/** A reactor a sink, so that a slow one holds up no other. */
export async function runDeliveries(log: Log, sinks: readonly Sink[], { now, random, logger, count }: DeliveriesDeps) {
  await using opened = new AsyncDisposableStack();
  const deps = { now, random, report: reportTo(log), delivered: await deliveredIn(log) };
  const reactors: RunningPart[] = [];
  for (const sink of sinks) {
    const group = `alerting-${sink.name}`;
    const options = { group, service: 'alerting', reads: [Topic.alert], maxInFlight, logger, count } as const;
    const react = deliver(sink, deps);
    reactors.push(
      opened.use(
        await runReactor<typeof Topic.alert, typeof Topic.alert | typeof Topic.notify>(log, { ...options, react }),
      ),
    );
  }
  const kept = opened.move();
  return {
    ready: () => reactors.every((reactor) => reactor.ready()),
    finished: Promise.race(reactors.map(({ finished }) => finished)),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** A broker that is away makes no dead letter of an alert. */
function reportTo(log: Log): DeliveryDeps['report'] {
  const { write } = writer(log);
  return async (notices: readonly Notify[]) => {
    await write(notices).catch((error: unknown) => {
      throw new Retry('it cannot be written that a sink fails', { cause: error });
    });
  };
}
