import { expect, test } from 'vitest';
import { closerInterval, judgedInterval } from './interval.ts';

test.each([
  ['a third of the interval', 30_000, 10_000],
  ['a whole number of milliseconds', 10_000, 3333],
  ['a second, and no less', 2999, 1000],
  ['exactly a second', 3000, 1000],
  ['the interval itself where that is a second', 1000, 1000],
  ['the interval itself where that is shorter', 300, 300],
])('an agent that is watched more closely is asked for heartbeats every: %s', (_, interval, asked) => {
  expect(closerInterval(interval)).toBe(asked);
});

test.each([
  ['that reports no interval', null, 30_000],
  ['that reports the interval of a closer watch, requested or its own', 10_000, 30_000],
  ['that reports a little less than that', 9999, 9999],
  ['that reports a little more than that', 10_001, 10_001],
  ['that reports a longer one than its policy', 60_000, 60_000],
])('the absence of an agent %s is judged by', (_, reported, judged) => {
  expect(judgedInterval(reported, 30_000)).toBe(judged);
});
