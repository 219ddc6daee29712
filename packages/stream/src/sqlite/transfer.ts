import { setTimeout as sleep } from 'node:timers/promises';
import { catalogue, type TopicName } from '@vigil/events';
import { Fatal, Refused } from '../errors.ts';
import { isCommand, MOVED, receivedAt } from '../log/inputs.ts';
import type { Log, LogRecord, OutRecord, Position } from '../log/log.ts';
import { LogFile, type StoredSchema } from './database.ts';

/** Records of one write. */
const CHUNK = 1000;
/** No reader uses a record of this key. It takes the place of a deleted one, so that offsets stay as they were. */
const FILLER = '@probe/import';
/** The projector keeps its positions in its database, which it builds again from the whole log. */
const READS_ALL = 'projector';

/** How often the offsets of a group are published at most, and the pause between, milliseconds. */
const PUBLICATIONS = 10;
const PAUSE_MS = 500;

/** `register`: returns the id of a schema in the registry of the target. `onProgress`: records written, and all of them. */
export type TransferOptions = {
  readonly register: (subject: string, json: string) => Promise<number>;
  readonly onProgress: (done: number, of: number) => void;
  readonly signal: AbortSignal;
};

export type Transferred = { readonly topics: number; readonly records: number; readonly groups: number };

/** Writes a consistent copy of a log in a file, also while services use it. Throws Fatal if the copy exists. */
export const copyFileLog = (path: string, to: string): void => {
  const file = new LogFile(path);
  try {
    file.copyTo(to);
  } finally {
    file.close();
  }
};

/** Refuses a target that has records, or another number of partitions. */
const checkTarget = async (log: Log, stored: ReadonlyMap<string, number>): Promise<void> => {
  for (const [topic, partitions] of stored) {
    const bounds = await log.bounds(topic);
    if (bounds.length !== partitions)
      throw new Refused(
        `${topic} has ${partitions} partitions in the file and ${bounds.length} in the target: create the topics with VIGIL_PARTITIONS=${partitions}`,
      );
    const records = bounds.reduce((sum, { high }) => sum + high, 0);
    if (records > 0)
      throw new Refused(
        `${topic} has had ${records} records in the target: import into topics that nothing has written`,
      );
  }
};

/** Bytes of an event begin with a zero and the id of their schema. */
const translated = ({ topic, key, value }: LogRecord, ids: ReadonlyMap<number, number>): Buffer | null => {
  const isRunners = catalogue[topic as TopicName]?.kind === 'snapshot' || key?.startsWith('@') === true;
  if (value === null || isRunners || value.length < 5 || value[0] !== 0) return value;
  const id = ids.get(value.readInt32BE(1));
  if (id === undefined) return value;
  const copy = Buffer.from(value);
  copy.writeInt32BE(id, 1);
  return copy;
};

/** A broker stamps commands itself, so a header has their time, as that of a record that was moved. */
const outOf = (record: LogRecord, ids: ReadonlyMap<number, number>): OutRecord => {
  const { topic, partition, key, timestamp, headers } = record;
  const kept = isCommand(topic) ? { ...headers, [MOVED]: String(receivedAt(record)) } : headers;
  return { topic, partition, key, value: translated(record, ids), timestamp, headers: kept };
};

type Stretch = { readonly topic: string; readonly partition: number; readonly high: number };

/** The records of a partition in chunks without a gap. A filler has the time of the record before it, or of the first. */
function* chunksOf(file: LogFile, { topic, partition, high }: Stretch, ids: ReadonlyMap<number, number>) {
  let [{ timestamp } = { timestamp: 0 }] = file.read(topic, partition, { low: 0, high }, 1);
  for (let from = 0; from < high; from += CHUNK) {
    const until = Math.min(from + CHUNK, high);
    const records = file.read(topic, partition, { low: from, high: until }, CHUNK);
    const at = new Map(records.map((record) => [record.offset, record]));
    yield Array.from({ length: until - from }, (_, index): OutRecord => {
      const record = at.get(from + index);
      if (record === undefined) return { topic, partition, key: FILLER, value: null, timestamp };
      timestamp = record.timestamp;
      return outOf(record, ids);
    });
  }
}

const registered = async (
  schemas: readonly StoredSchema[],
  register: TransferOptions['register'],
): Promise<ReadonlyMap<number, number>> => {
  const ids = new Map<number, number>();
  for (const { id, subject, json } of schemas) ids.set(id, await register(subject, json));
  return ids;
};

/** A group continues at its offsets: it is joined once, to publish them. */
const publish = async (log: Log, group: string, offsets: readonly Position[]): Promise<void> => {
  const assigned = Promise.withResolvers<void>();
  const topics = [...new Set(offsets.map(({ topic }) => topic))];
  const membership = await log.join({
    group,
    topics,
    paceMs: 1000,
    held: () => [],
    onAssigned: () => assigned.resolve(),
    onHeartbeat: () => {},
    take: async () => false,
    onSkipped: () => {},
    onLost: assigned.reject,
  });
  try {
    await assigned.promise;
    for (let attempt = 1; attempt <= PUBLICATIONS; attempt += 1) {
      await membership.publish(offsets);
      if (await arePublished(log, group, offsets)) return;
      await sleep(PAUSE_MS);
    }
    throw new Fatal(
      `the offsets of the group ${group} are not written: the target has dropped them ${PUBLICATIONS} times`,
    );
  } finally {
    await membership.stop();
  }
};

/** Kafka's client drops offsets without an error while it joins again. */
const arePublished = async (log: Log, group: string, offsets: readonly Position[]): Promise<boolean> => {
  const stored = new Map<string, readonly (number | null)[]>();
  for (const { topic } of offsets) if (!stored.has(topic)) stored.set(topic, await log.groupOffsets(group, topic));
  return offsets.every(({ topic, partition, offset }) => stored.get(topic)?.[partition] === offset);
};

/**
 * Writes a log in a file into empty topics of another log: keys, order, times, versions and offsets stay, and the ids of
 * schemas are those of the target. Offsets of deleted records get records that no reader uses, so snapshots and groups
 * continue where they were. Throws Refused.
 */
export const transferFileLog = async (
  path: string,
  log: Log,
  { register, onProgress, signal }: TransferOptions,
): Promise<Transferred> => {
  const file = new LogFile(path);
  try {
    const stored = file.partitionCounts();
    await checkTarget(log, stored);
    const ids = await registered(file.allSchemas(), register);
    const ranges = [...stored.keys()].flatMap((topic) =>
      file.bounds(topic).map(({ high }, partition) => ({ topic, partition, high })),
    );
    const of = ranges.reduce((sum, { high }) => sum + high, 0);
    let done = 0;
    for (const stretch of ranges)
      for (const chunk of chunksOf(file, stretch, ids)) {
        signal.throwIfAborted();
        await log.write(chunk);
        done += chunk.length;
        onProgress(done, of);
      }
    const groups = Map.groupBy(
      file.groupOffsets().filter(({ group }) => group !== READS_ALL),
      ({ group }) => group,
    );
    for (const [group, offsets] of groups) await publish(log, group, offsets);
    return { topics: stored.size, records: done, groups: groups.size };
  } finally {
    file.close();
  }
};
