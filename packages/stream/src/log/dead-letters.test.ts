import { expect, test } from 'vitest';
import { DeadLetterLimits } from './dead-letters.ts';

const counting = (pattern: readonly boolean[], now = 0) => {
  const limits = new DeadLetterLimits();
  for (const dead of pattern) limits.count(dead, now);
  return limits;
};
const times = (n: number, dead: boolean) => Array.from({ length: n }, () => dead);

test('20 dead letters in a row are too many, 19 are not, and one good record starts the count again', () => {
  expect(counting(times(19, true)).exceeded).toBeNull();
  expect(counting(times(20, true)).exceeded).toBe('20 records in a row are dead letters');
  expect(counting([...times(400, false), ...times(19, true), false, true]).exceeded).toBeNull();
});

test('above 5 % of a minute is too many, 5 % is not, and the next minute starts the count again', () => {
  const mixed = (good: number) => [...times(good, false), ...times(10, true), false, ...times(10, true)];
  expect(counting(mixed(379)).exceeded).toBeNull();
  expect(counting(mixed(378)).exceeded).toBe('20 of the 399 records of this minute are dead letters');
  const limits = counting(mixed(378));
  limits.count(false, 60_000);
  expect(limits.exceeded).toBeNull();
});

test('a few dead letters among few records do not exceed the share', () => {
  expect(counting([true, false, true, false, true]).exceeded).toBeNull();
});
