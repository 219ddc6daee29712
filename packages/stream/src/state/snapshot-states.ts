import type { Log } from '../log/log.ts';
import { snapshotTopic } from '../processor/topology.ts';
import type { AtRest } from './at-rest.ts';
import { type Entry, Store } from './store.ts';

/** All states of a processor by their keys, as of their last transactions. Affects the processor in no way. */
export const readStates = async <State>(
  log: Pick<Log, 'bounds' | 'read'>,
  { processor, atRest }: { readonly processor: string; readonly atRest: AtRest<State> },
  signal: AbortSignal,
): Promise<ReadonlyMap<string, State>> => {
  const topic = snapshotTopic(processor);
  const store = new Store(atRest);
  for (const [partition, range] of (await log.bounds(topic)).entries())
    if (range.low < range.high)
      await log.read(
        topic,
        partition,
        range,
        ({ key, value }) => {
          if (key !== null && !key.startsWith('@')) store.restore(key, value);
        },
        signal,
      );
  return new Map(store.keys().map((key) => [key, (store.get(key) as Entry<State>).state]));
};
