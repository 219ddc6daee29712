import { catalogue, type TopicName } from '@vigil/events';
import type { LogRecord } from '@vigil/stream';
import { type TestSystem, until } from './system.ts';

const POSITION = '@position/';
const VERSION = 10;
const EPOCH = 18;

export const snapshotTopics = (Object.keys(catalogue) as TopicName[]).filter(
  (topic) => catalogue[topic].kind === 'snapshot',
);

/** The last value of each key by partition, as a restore would find it. */
export const lastValues = (records: readonly LogRecord[]): ReadonlyMap<string, LogRecord> =>
  new Map(records.map((record) => [`${record.partition}/${record.key}`, record]));

/** The records of a partition from `next` on that the processor has not read, ticks aside, as text. */
const unreadOf = async (on: TestSystem, topic: TopicName, partition: number, next: number) => {
  const high = (await on.log.bounds(topic))[partition]?.high ?? 0;
  let waiting = 0;
  const count = ({ key }: LogRecord): void => {
    if (!key?.startsWith('@')) waiting += 1;
  };
  if (high > next) await on.log.read(topic, partition, { low: next, high }, count, AbortSignal.timeout(60_000));
  return waiting === 0 ? [] : [`${waiting} of ${topic}/${partition} from ${next}`];
};

/** The unread records of a processor, except ticks; empty if it has read all its inputs. */
const unread = async (on: TestSystem, snapshot: TopicName): Promise<string[]> => {
  const positions = [...lastValues(await on.records(snapshot)).values()].flatMap(({ key, partition, value }) =>
    !key?.startsWith(POSITION) || value === null
      ? []
      : [
          {
            topic: key.slice(POSITION.length) as TopicName,
            partition,
            ...(JSON.parse(value.toString()) as { next: number }),
          },
        ],
  );
  const found = await Promise.all(positions.map(({ topic, partition, next }) => unreadOf(on, topic, partition, next)));
  return found.flat().map((records) => `${snapshot}: ${records}`);
};

/** The unread records of all processors. */
export const allUnread = async (on: TestSystem): Promise<readonly string[]> => {
  const behind: string[] = [];
  for (const snapshot of snapshotTopics) behind.push(...(await unread(on, snapshot)));
  return behind;
};

/** The version of the last event of each `key@epoch` in a processor's snapshot. */
export const rememberedVersions = async (on: TestSystem, snapshot: TopicName): Promise<ReadonlyMap<string, number>> => {
  const states = [...lastValues(await on.records(snapshot)).values()].filter(({ key }) => !key?.startsWith('@'));
  return new Map(
    states.flatMap(({ key, value }) =>
      value === null ? [] : [[`${key}@${value.readDoubleBE(EPOCH)}`, value.readDoubleBE(VERSION)] as const],
    ),
  );
};

/** Partitions whose last stable offset is below their end, because a transaction is open or hangs. */
export const unstable = async (on: TestSystem): Promise<readonly string[]> => {
  const found: string[] = [];
  for (const topic of Object.keys(catalogue) as TopicName[]) {
    const [stable, bounds] = [await on.log.stableEnds(topic), await on.log.bounds(topic)];
    for (const [partition, { high }] of bounds.entries())
      if ((stable[partition] ?? 0) < high) found.push(`${topic}/${partition}: ${stable[partition]} of ${high}`);
  }
  return found;
};

/** Waits until all deciders have read all input. No input arrives and no time passes, so nothing is due. */
export const standStill = async (on: TestSystem): Promise<void> => {
  await Promise.all((['gateway', 'heartbeat-ingest'] as const).map((name) => on.system.service(name).stop()));
  await until(
    'all processors have read everything',
    async () => (await allUnread(on)).every((one) => one.startsWith('onex.snapshot.heartbeat-ingest')),
    300_000,
  );
};
