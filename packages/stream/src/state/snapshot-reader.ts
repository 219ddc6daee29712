import type { Log } from '../log/log.ts';
import { partitionOf } from '../log/partitioner.ts';
import type { Clock } from '../processor/decider.ts';
import { POSITION_KEY } from '../processor/partition-task.ts';
import { snapshotTopic } from '../processor/topology.ts';
import { type ClockState, restored, TICK_MS, timeOf } from '../time/clock.ts';
import { type AtRest, shapeOf } from './at-rest.ts';
import { type Entry, Store } from './store.ts';

/** How far back from the end each search reads, offsets. It reads none of them twice. Live states are near the end. */
const WINDOWS = [500, 5_000, 50_000, Number.POSITIVE_INFINITY];

/** The source of a state: its processor, its shapes, and the input that carries its time. */
export type SnapshotSource = {
  readonly processor: string;
  readonly atRest: AtRest<unknown>;
  readonly timeTopic: string;
};

/** The state of a key and the time of its partition, as of the last transaction. */
export type SnapshotState<State> = { readonly state: State; readonly clock: Clock };

/**
 * Finds a state in the snapshot topic without affecting the processor. Returns null if there is none, its shape is not
 * readable, or `signal` was aborted first.
 */
export const readSnapshot = async <State>(
  log: Pick<Log, 'bounds' | 'read'>,
  { processor, atRest, timeTopic }: SnapshotSource,
  key: string,
  signal: AbortSignal,
): Promise<SnapshotState<State> | null> => {
  const topic = snapshotTopic(processor);
  const bounds = await log.bounds(topic);
  const partition = partitionOf(key, bounds.length);
  const { low, high } = bounds[partition] ?? { low: 0, high: 0 };
  const positionKey = `${POSITION_KEY}${timeTopic}`;
  let newest = new Map<string, Buffer | null>();
  let end = high;
  for (const window of WINDOWS) {
    const from = Math.max(low, high - window);
    const older = new Map<string, Buffer | null>();
    const remember = (found: string | null, value: Buffer | null) => {
      if (found === key || found === positionKey) older.set(found, value);
    };
    if (from < end)
      await log.read(topic, partition, { low: from, high: end }, (one) => remember(one.key, one.value), signal);
    newest = new Map([...older, ...newest]);
    end = from;
    const state = newest.get(key);
    const position = newest.get(positionKey);
    if (signal.aborted || state === null) return null;
    if (state && position) return seen(key, state, position, atRest as AtRest<State>);
    if (from === low) return null;
  }
  return null;
};

const seen = <State>(
  key: string,
  bytes: Buffer,
  position: Buffer,
  atRest: AtRest<State>,
): SnapshotState<State> | null => {
  const shape = bytes.readUInt16BE(0);
  if (shape < atRest.oldest || shape > shapeOf(atRest)) return null;
  const store = new Store(atRest);
  store.restore(key, bytes);
  const { state } = store.get(key) as Entry<State>;
  const { clock } = JSON.parse(position.toString()) as { clock: ClockState };
  return { state, clock: timeOf(restored(clock), TICK_MS) };
};
