import { expect, test } from 'vitest';
import { createReach } from './reach.ts';

const reachAt = () => {
  let now = 0;
  let isFollowing = true;
  const reach = createReach(
    () => now,
    () => isFollowing,
  );
  const seen = (at: number) => {
    now = at;
    return [reach.isReady(), reach.isOpen()];
  };
  const writtenAt = (at: number) => {
    now = at;
    reach.written();
  };
  const deaf = (isDeaf = true) => {
    isFollowing = !isDeaf;
  };
  return { seen, writtenAt, deaf };
};
const BOTH = [true, true];
const NEITHER = [false, false];

test('it is ready and open while something is acknowledged every three seconds', () => {
  const { seen, writtenAt } = reachAt();
  writtenAt(1000);
  expect(seen(4000)).toEqual(BOTH);
  expect(seen(4001)).toEqual(NEITHER);
});

test('once it can write again it is ready at once, and open when those who share out connections have seen it', () => {
  const { seen, writtenAt } = reachAt();
  writtenAt(10_000);
  expect(seen(10_000)).toEqual([true, false]);
  for (let at = 11_000; at < 25_000; at += 1000) writtenAt(at);
  expect(seen(24_999)).toEqual([true, false]);
  expect(seen(25_000)).toEqual(BOTH);
});

test('an instance that does not follow the log is neither ready nor open, although it can write', () => {
  const { seen, writtenAt, deaf } = reachAt();
  writtenAt(1000);
  deaf();
  expect(seen(1000)).toEqual(NEITHER);
  deaf(false);
  expect(seen(2000)).toEqual([true, false]);
  for (let at = 3000; at <= 17_000; at += 1000) writtenAt(at);
  expect(seen(17_000)).toEqual(BOTH);
});
