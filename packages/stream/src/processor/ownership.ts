import { randomUUID } from 'node:crypto';
import { Retry } from '../errors.ts';
import type { Bounds, Log, LogRecord, OutRecord } from '../log/log.ts';
import type { SharedWriter } from './shared-writer.ts';

/**
 * The prefix of the keys that name the writers of a partition, in its snapshot. A writer that gives the partition up
 * deletes its key. The key of a writer that died or hangs remains.
 */
export const OWNER_KEY = '@owner/';
/** How often a claim looks for new records, milliseconds. A commit becomes readable after its acknowledgement. */
const LOOK_MS = 20;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** `topic`: the snapshot. `releaseMs`: how long another writer may take to give the partition up before it is fenced. */
export type ClaimOptions = {
  readonly log: Pick<Log, 'stableEnds' | 'read'>;
  readonly topic: string;
  readonly partition: number;
  readonly low: number;
  readonly writer: SharedWriter;
  readonly releaseMs: number;
};

/** The record with which a writer gives a partition up, so that no other writer has to fence it. */
export const released = (topic: string, partition: number, id: string): OutRecord => ({
  topic,
  partition,
  key: OWNER_KEY + id,
  value: null,
});

/**
 * Makes the writer the only one of a partition, and reads its snapshot. `apply` gets all records in order, with the
 * bounds of the part that is read.
 *
 * 1. It reads the snapshot, and waits until other writers have given the partition up.
 * 2. It fences those that have not, and reads what they had committed.
 * 3. It writes the key of its writer, and reads until that key. It also fences a writer whose key came before it.
 *
 * If two writers claim a partition at once, the later one in the log sees the key of the earlier one, and fences it
 * before it writes anything else. So only one can commit, even if both believe that the group assigned the partition to
 * them. A fenced writer loses all its partitions; they are opened again.
 * @throws Retry if another writer has claimed the partition later, or the signal was aborted
 */
export const claim = async (
  { log, topic, partition, low, writer, releaseMs }: ClaimOptions,
  apply: (record: LogRecord, part: Bounds) => void,
  signal: AbortSignal,
): Promise<void> => {
  const mark = randomUUID();
  /** the writers that may still commit */
  const others = new Set<string>();
  let at = low;
  let isOurs = false;
  const see = (record: LogRecord, part: Bounds): void => {
    apply(record, part);
    if (!record.key?.startsWith(OWNER_KEY)) return;
    const id = record.key.slice(OWNER_KEY.length);
    if (id === writer.id) isOurs ||= record.value?.toString() === mark;
    else if (record.value === null) others.delete(id);
    else if (isOurs) throw new Retry(`${topic}/${partition}: ${id} has claimed it after ${writer.id}`);
    else others.add(id);
  };
  const readOn = async (): Promise<void> => {
    const part = { low: at, high: (await log.stableEnds(topic))[partition] ?? at };
    if (part.low < part.high) await log.read(topic, partition, part, (record) => see(record, part), signal);
    if (signal.aborted) throw new Retry(`${topic}/${partition} was lost while it was claimed`);
    at = Math.max(at, part.high);
  };
  const fenceOthers = async (): Promise<readonly string[]> => {
    const fenced: string[] = [];
    for (const id of others) {
      await writer.fence(id);
      fenced.push(id);
      others.delete(id);
      await readOn();
    }
    return fenced;
  };

  await readOn();
  const deadline = performance.now() + releaseMs;
  const mayRelease = (id: string) => !writer.former.has(id);
  while ([...others].some(mayRelease) && performance.now() < deadline) {
    await sleep(LOOK_MS);
    await readOn();
  }
  const fenced = await fenceOthers();
  const key = { topic, partition, key: OWNER_KEY + writer.id, value: Buffer.from(mark) };
  await writer.commit([key, ...fenced.map((id) => released(topic, partition, id))]);
  for (await readOn(); !isOurs; await readOn()) await sleep(LOOK_MS);
  await fenceOthers();
};
