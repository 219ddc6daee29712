import { hash } from 'node:crypto';
import type { LogRecord } from './log.ts';

/** The dead letters that one key gets in a minute. A record above that is only counted. */
export const MOST_OF_A_KEY = 60;

/** The dead letters that one partition gets in a minute, of all keys. */
export const MOST_OF_A_PARTITION = 600;

/** The bytes of original values that the dead letters of a partition keep in a minute. */
export const MOST_VALUE_BYTES = 1024 * 1024;

const MINUTE_MS = 60_000;

/** Records without a dead letter of their own: their number, and the position and key of the first. */
export type LeftOut = Pick<LogRecord, 'topic' | 'partition' | 'offset' | 'timestamp' | 'key'> & {
  readonly count: number;
};

/** The dead letters of one partition in the present minute. `ofKey`: by a digest, because a key may be long. */
export type DeadLetterCounts = {
  readonly minute: number;
  readonly written: number;
  readonly valueBytes: number;
  readonly ofKey: Readonly<Record<string, number>>;
  readonly leftOut: LeftOut | null;
};

export const NO_DEAD_LETTERS: DeadLetterCounts = { minute: 0, written: 0, valueBytes: 0, ofKey: {}, leftOut: null };

/** Whether there are counts, and they are of another minute than `now`: they must be finished first. */
export const isOver = (counts: DeadLetterCounts, now: number): boolean =>
  counts !== NO_DEAD_LETTERS && counts.minute !== minuteOf(now);

/**
 * Counts one more bad record. `now`: the time of the log, so that a replay counts the same; the counts are of its
 * minute. `valueCap`: how much of the value its dead letter keeps, in bytes; null if it gets none.
 */
export const countDeadLetter = (
  counts: DeadLetterCounts,
  record: LogRecord,
  now: number,
  largestValue: number,
): { readonly counts: DeadLetterCounts; readonly valueCap: number | null } => {
  const present = counts.minute === minuteOf(now) ? counts : { ...NO_DEAD_LETTERS, minute: minuteOf(now) };
  const digest = hash('sha1', record.key ?? '').slice(0, 12);
  const ofKey = (present.ofKey[digest] ?? 0) + 1;
  if (present.written >= MOST_OF_A_PARTITION || ofKey > MOST_OF_A_KEY)
    return { counts: { ...present, leftOut: oneMore(present.leftOut, record) }, valueCap: null };
  const valueCap = Math.min(largestValue, MOST_VALUE_BYTES - present.valueBytes);
  const written = present.written + 1;
  return {
    counts: {
      ...present,
      written,
      valueBytes: present.valueBytes + Math.min(valueCap, record.value?.length ?? 0),
      // A full partition needs no counts of its keys, and the counts are stored with each position.
      ofKey: written === MOST_OF_A_PARTITION ? {} : { ...present.ofKey, [digest]: ofKey },
    },
    valueCap,
  };
};

const minuteOf = (now: number): number => Math.floor(now / MINUTE_MS);

const oneMore = (leftOut: LeftOut | null, { topic, partition, offset, timestamp, key }: LogRecord): LeftOut =>
  leftOut === null
    ? { topic, partition, offset, timestamp, key: key?.slice(0, KEY_CAP) ?? null, count: 1 }
    : { ...leftOut, count: leftOut.count + 1 };

/** A key may be as long as a record. A key that is not an id is cut to this many characters. */
export const KEY_CAP = 1000;
