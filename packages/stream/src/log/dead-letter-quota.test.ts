import { expect, test } from 'vitest';
import {
  countDeadLetter,
  type DeadLetterCounts,
  isOver,
  MOST_OF_A_KEY,
  MOST_OF_A_PARTITION,
  MOST_VALUE_BYTES,
  NO_DEAD_LETTERS,
} from './dead-letter-quota.ts';
import { VALUE_CAP } from './dead-letters.ts';

const MINUTE = 60_000;
const T = 1000 * MINUTE;

/** Counts one bad record of each key; returns the counts, and how many of the records get a dead letter. */
const counting = (keys: readonly (string | null)[], now = T, size = 3, before: DeadLetterCounts = NO_DEAD_LETTERS) => {
  let counts = before;
  let written = 0;
  let kept = 0;
  for (const [offset, key] of keys.entries()) {
    const record = { topic: 't', partition: 0, offset, key, value: Buffer.alloc(size), timestamp: now, headers: {} };
    const counted = countDeadLetter(counts, record, now, VALUE_CAP);
    counts = counted.counts;
    if (counted.valueCap === null) continue;
    written += 1;
    kept += Math.min(size, counted.valueCap);
  }
  return { counts, written, kept };
};
const times = (n: number, key: string | null = 'a') => Array.from({ length: n }, () => key);
const keys = (n: number) => Array.from({ length: n }, (_, i) => `agent-${i}`);

test('a key gets 60 dead letters a minute; the 61st record is only counted', () => {
  const exactly = counting(times(MOST_OF_A_KEY));
  expect([exactly.written, exactly.counts.leftOut]).toEqual([60, null]);
  const above = counting(times(MOST_OF_A_KEY + 2));
  expect(above.written).toBe(60);
  expect(above.counts.leftOut).toEqual({ topic: 't', partition: 0, offset: 60, timestamp: T, key: 'a', count: 2 });
});

test('a key above its quota takes nothing from another key, nor from records without a key', () => {
  const { counts } = counting(times(500));
  expect(counting(['b', null], T, 3, counts).written).toBe(2);
});

test('records without a key share one quota', () => {
  expect(counting(times(MOST_OF_A_KEY + 1, null)).written).toBe(60);
});

test('a partition gets 600 dead letters a minute, however many keys its records have', () => {
  expect(counting(keys(MOST_OF_A_PARTITION)).counts.leftOut).toBeNull();
  const above = counting(keys(MOST_OF_A_PARTITION + 1));
  expect([above.written, above.counts.leftOut?.count]).toEqual([600, 1]);
});

test('the next minute has a full quota, and the last millisecond of a minute has not', () => {
  const { counts } = counting(times(MOST_OF_A_KEY));
  expect(counting(['a'], T + MINUTE - 1, 3, counts).written).toBe(0);
  expect(counting(['a'], T + MINUTE, 3, counts).written).toBe(1);
  expect([isOver(counts, T + MINUTE - 1), isOver(counts, T + MINUTE)]).toEqual([false, true]);
});

test('time that is set back ends the minute too', () => {
  expect(isOver(counting(['a']).counts, T - 1)).toBe(true);
});

test('a minute without a bad record needs no end', () => {
  expect(isOver(NO_DEAD_LETTERS, T)).toBe(false);
});

test('the values that the dead letters of a minute keep have 1 MiB together', () => {
  const { written, kept } = counting(keys(100), T, VALUE_CAP);
  expect([written, kept]).toEqual([100, MOST_VALUE_BYTES]);
});

test('the counts stay small in a snapshot, for keys of any length', () => {
  const long = (n: number) => Array.from({ length: n }, (_, i) => `${i}${'x'.repeat(10_000)}`);
  const size = (n: number) => JSON.stringify(counting(long(n)).counts).length;
  expect(size(MOST_OF_A_PARTITION - 1)).toBeLessThan(12_000);
  expect(size(MOST_OF_A_PARTITION + 1)).toBeLessThan(1300);
});
