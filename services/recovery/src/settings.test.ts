import { expect, test } from 'vitest';
import { admit, closed, fail, succeed, tryAgain } from './breaker.ts';
import { delayBefore } from './settings.ts';
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

const limits = { failureThreshold: 2, recoveryTimeoutMs: 1000, halfOpenRequests: 1 };

test('a breaker opens on the last failure in a row that it bears, and a success between begins the count anew', () => {
  const once = fail(closed, 0, limits, 5);
  expect(once).toEqual({ state: 'CLOSED', generation: 0, failures: 1 });
  expect(fail(once, 0, limits, 5)).toEqual({ state: 'OPEN', generation: 1, failures: 2, nextAttemptAt: 1005 });
  const after = succeed(once, 0);
  expect(fail(after, after.generation, limits, 5).state).toBe('CLOSED');
});

test('a result of an earlier generation is ignored; a failed trial opens again', () => {
  const open = fail(fail(closed, 0, limits, 5), 0, limits, 5);
  const trial = admit(tryAgain(open));
  expect(trial).toMatchObject({ state: 'HALF_OPEN', generation: 2, admitted: 1 });
  expect(succeed(trial, 0)).toBe(trial);
  expect(fail(trial, 1, limits, 9)).toBe(trial);
  expect(fail(trial, 2, limits, 9)).toMatchObject({ state: 'OPEN', generation: 3, nextAttemptAt: 1009 });
  expect(succeed(trial, 2)).toMatchObject({ state: 'CLOSED', failures: 0 });
});
