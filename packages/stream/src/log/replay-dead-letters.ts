import { catalogue, NewerEvent, Undecodable } from '@vigil/events';
import { DeadLetter, Refused } from '../errors.ts';
import { eventOf, MOVED } from './inputs.ts';
import type { Log, LogRecord, OutRecord } from './log.ts';
import { partitionOf, positionOf } from './partitioner.ts';
import { readEvent, retryLearning } from './reading.ts';

/** The header of a replayed record: the id of its dead letter. */
const REPLAYED = 'replayed';

/** The key of the record beside a dead letter that it was replayed; `id` follows. It is a mark, which readers ignore. */
const MARK = '@replayed/';

/** The id under which one replay at a time writes: a second one ends the first. */
const TRANSACTIONAL_ID = 'vigil-replay-dead-letters';

/**
 * A stored dead letter. `id`: its position, as `vigil dlq list` shows it. Times in epoch milliseconds. `replayedAt`
 * null: it was not replayed.
 */
export type StoredLetter = {
  readonly id: string;
  readonly service: string;
  readonly failedAt: number;
  readonly reason: string;
  readonly error: string;
  readonly original: {
    /** of the record; two services may each have a dead letter of it */
    readonly position: string;
    readonly topic: string;
    readonly key: string | null;
    readonly value: Buffer | null;
    readonly isTruncated: boolean;
    readonly timestamp: number;
  };
  readonly leftOut: number;
  readonly replayedAt: number | null;
};

type ReadingLog = Pick<Log, 'codec' | 'bounds' | 'stableEnds' | 'readRanges'>;

const letterTopics = Object.entries(catalogue).flatMap(([topic, { kind }]) => (kind === 'dlq' ? [topic] : []));

/** All stored dead letters, in the order of their failures. */
export const readDeadLetters = async (log: ReadingLog, signal: AbortSignal): Promise<readonly StoredLetter[]> => {
  const records: LogRecord[] = [];
  const replayed = new Map<string, number>();
  for (const topic of letterTopics) {
    const [bounds, ends] = [await log.bounds(topic), await log.stableEnds(topic)];
    const ranges = bounds
      .map(({ low, high }, partition) => ({ topic, partition, low, high: Math.min(high, ends[partition] ?? high) }))
      .filter(({ low, high }) => low < high);
    const take = (record: LogRecord) => {
      if (record.key?.startsWith(MARK)) replayed.set(record.key.slice(MARK.length), record.timestamp);
      else if (!record.key?.startsWith('@')) records.push(record);
    };
    if (ranges.length > 0) await log.readRanges(ranges, take, signal);
  }
  const letters: StoredLetter[] = [];
  for (const record of records) letters.push(await letterOf(log, record, replayed.get(positionOf(record)) ?? null));
  return letters.toSorted((a, b) => a.failedAt - b.failedAt || (a.id < b.id ? -1 : 1));
};

const letterOf = async ({ codec }: ReadingLog, record: LogRecord, replayedAt: number | null): Promise<StoredLetter> => {
  // A record without a key has a dead letter without one.
  const event = await retryLearning(codec, () => eventOf({ ...record, key: record.key ?? '' }, codec));
  if (event.type !== 'DEAD_LETTER') throw new Refused(`${positionOf(record)} is not a dead letter but ${event.type}`);
  const { payload } = event;
  const { key, value, truncated, partition, offset } = payload.original_message;
  return {
    id: positionOf(record),
    service: record.topic.split('.')[2] ?? record.topic,
    failedAt: payload.failure_timestamp,
    reason: payload.failure_reason,
    error: payload.error_type,
    original: {
      position: positionOf({ topic: payload.original_topic, partition, offset }),
      topic: payload.original_topic,
      key,
      value: value === null ? null : Buffer.from(value),
      isTruncated: truncated,
      timestamp: payload.original_timestamp,
    },
    leftOut: payload.left_out,
    replayedAt,
  };
};

/** Why a dead letter is not replayed, in words; null if it can be. `codec` reads its record as a service would. */
export const refusalOf = async ({ codec }: Pick<Log, 'codec'>, letter: StoredLetter): Promise<string | null> => {
  const { original, leftOut, replayedAt } = letter;
  const { topic, key, value, isTruncated } = original;
  if (replayedAt !== null) return `it was replayed at ${new Date(replayedAt).toISOString()}`;
  if (leftOut > 0) return `${leftOut} records of its minute were not kept: read them again with \`vigil topics reset\``;
  if (isTruncated) return 'only the beginning of its record is kept: read it again with `vigil topics reset`';
  if (value === null) return 'its record has no value';
  if (key === null || key.startsWith('@')) return 'its record has no key of an agent or task';
  if (!(topic in catalogue)) return `this version has no topic ${topic}`;
  const record = { topic, partition: 0, offset: 0, key, value, timestamp: original.timestamp, headers: {} };
  try {
    await readEvent(codec, record);
    return null;
  } catch (error) {
    if (!(error instanceof DeadLetter || error instanceof Undecodable || error instanceof NewerEvent)) throw error;
    return `it would be a dead letter again: ${error.message}`;
  }
};

/** Each service that failed reads the record again, whichever of its dead letters is replayed. */
const ANOTHER = 'another dead letter of the same record was replayed';

/** The replay of one dead letter. */
export type ReplayedLetter = { readonly letter: StoredLetter; readonly refusal: string | null };

/** `wanted`: which dead letters to replay; `pause`: waits between two replayed ones; `onEach`: after each wanted one. */
export type LetterReplay = {
  readonly wanted: (letter: StoredLetter) => boolean;
  readonly pause: () => Promise<void>;
  readonly onEach: (one: ReplayedLetter) => void;
  readonly signal: AbortSignal;
};

/**
 * Writes the records of dead letters to their topics again, under their keys. Each record and the mark that it was
 * replayed become visible together, so that none is replayed twice. A replay that begins later ends this one, which
 * then throws Retry.
 */
export const replayDeadLetters = async (log: Log, { wanted, pause, onEach, signal }: LetterReplay): Promise<void> => {
  const transactor = await log.fence(TRANSACTIONAL_ID);
  try {
    // After the fence, so that what another replay has written is known.
    const letters = await readDeadLetters(log, signal);
    const written = new Set(
      letters.filter(({ replayedAt }) => replayedAt !== null).map((one) => one.original.position),
    );
    for (const letter of letters.filter(wanted)) {
      signal.throwIfAborted();
      const { position } = letter.original;
      const refusal = (await refusalOf(log, letter)) ?? (written.has(position) ? ANOTHER : null);
      if (refusal === null) {
        written.add(position);
        await transactor.commit(await recordsFor(log, letter));
        await pause();
      }
      onEach({ letter, refusal });
    }
  } finally {
    await transactor.close();
  }
};

const recordsFor = async (log: Log, { id, original }: StoredLetter): Promise<readonly OutRecord[]> => {
  const { topic, key, value, timestamp } = original;
  const partition = partitionOf(key ?? '', await log.partitionCount(topic));
  const [, dlqTopic = '', dlqPartition = ''] = /^(.*)\/(\d+)\/\d+$/.exec(id) ?? [];
  return [
    { topic, partition, key, value, headers: { [REPLAYED]: id, [MOVED]: String(timestamp) } },
    { topic: dlqTopic, partition: Number(dlqPartition), key: `${MARK}${id}`, value: Buffer.from('{}') },
  ];
};
