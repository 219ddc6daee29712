import { expect, test } from 'vitest';
import { delayBefore, readSettings } from './settings.ts';
import { settings } from './story.fixture.ts';

test('the delay before an attempt is that of its number; the last repeats', () => {
  expect([1, 2, 3, 4].map((n) => delayBefore(settings, 'T', n))).toEqual([0, 60_000, 120_000, 120_000]);
});

test('jitter makes a delay longer by less than its share, evenly, and the same each time', () => {
  const jittered = { ...settings, delaysMs: [10_000], jitter: 0.2 };
  const delays = Array.from({ length: 1000 }, (_, n) => delayBefore(jittered, `OMN-${n}`, 1));
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(10_000);
  expect(Math.max(...delays)).toBeLessThanOrEqual(12_000);
  expect(delays.filter((delay) => delay < 11_000).length).toBeGreaterThan(400);
  expect(delays.filter((delay) => delay < 11_000).length).toBeLessThan(600);
  expect(delays).toEqual(delays.map((_, n) => delayBefore(jittered, `OMN-${n}`, 1)));
});

test('a rule for a new count that only a newer version supports leaves it to people', () => {
  const reset = (rule: 'UNKNOWN' | 'after_progress') =>
    readSettings('T', { ...settings, resetAttempts: rule }).resetAttempts;
  expect([reset('UNKNOWN'), reset('after_progress')]).toEqual(['by_people', 'after_progress']);
});
