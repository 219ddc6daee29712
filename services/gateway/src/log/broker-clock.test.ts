import { expect, test } from 'vitest';
import { createBrokerClock } from './broker-clock.ts';

const T = 1_795_305_600_000;

/** A host whose clock shows `wall`, and the brokers' that is `ahead` of it. */
const clocks = (ahead: number) => {
  let wall = T;
  let apart = ahead;
  const reported: number[] = [];
  const clock = createBrokerClock(
    () => wall,
    (aheadMs) => reported.push(aheadMs),
  );
  const write = (at: number, tripMs: number) => {
    wall = T + at + tripMs;
    clock.observe(T + at, T + at + tripMs / 2 + apart, T + at + tripMs);
  };
  return {
    reported,
    write,
    now: (at: number) => {
      wall = T + at;
      return clock.now() - T;
    },
    set: (to: number) => {
      apart = to;
    },
  };
};

test('before anything was written the clock of the host is all there is', () => {
  expect(clocks(60_000).now(5)).toBe(5);
});

test.each([60_000, -600_000])('it is the clock of the brokers, however far that is from the host (%d ms)', (ahead) => {
  const { write, now, reported } = clocks(ahead);
  write(0, 10);
  expect(now(1000)).toBe(1000 + ahead);
  expect(reported).toEqual([ahead]);
});

test('of several measurements the one with the shortest way counts', () => {
  const { write, now } = clocks(100);
  write(0, 10);
  write(1000, 4000);
  expect(now(6000)).toBe(6100);
});

test.each([100, 25_900])(
  'a slow write that is stamped after %i of 26,000 ms is not a difference of the clocks',
  (after) => {
    let wall = T;
    const reported: number[] = [];
    const clock = createBrokerClock(
      () => wall,
      (aheadMs) => reported.push(aheadMs),
    );
    for (let sentAt = T; sentAt < T + 600_000; sentAt += 60_000) {
      wall = sentAt + 26_000;
      clock.observe(sentAt, sentAt + after, wall);
      expect(clock.now()).toBe(wall);
    }
    expect(reported).toEqual([]);
  },
);

test('a clock that is corrected is followed, and reported again when it is far off again', () => {
  const { write, now, set, reported } = clocks(0);
  write(0, 10);
  set(60_000);
  write(31_000, 500);
  expect(now(32_000)).toBe(92_000);
  set(0);
  write(62_000, 500);
  set(-2500);
  write(93_000, 500);
  expect(reported).toEqual([60_000, -2500]);
});

test('a difference of two seconds is not reported, a larger one is', () => {
  for (const [ahead, times] of [
    [2000, 0],
    [2001, 1],
  ] as const) {
    const { write, reported } = clocks(ahead);
    write(0, 10);
    write(1000, 10);
    expect(reported).toHaveLength(times);
  }
});
