import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Follower } from './follower.ts';
import { fakeFetcher, message } from './reader.fixture.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A broker with one partition that delivers nothing over the connections numbered up to `deafTo`. */
const broker = (deafTo: number) => {
  let connections = 0;
  let end = 0;
  let answers = true;
  const fetcher = () => {
    connections += 1;
    const isDeaf = connections <= deafTo;
    const records = () => (isDeaf ? [] : Array.from({ length: end }, (_, offset) => message(offset)));
    return fakeFetcher({ records });
  };
  const stableEnds = async () => {
    if (!answers) throw new Error('no broker answers');
    return [end];
  };
  const from = [{ topic: 't', partition: 0, offset: 0 }];
  const follower = new Follower({ fetcher }, from, () => {}, stableEnds);
  return {
    follower,
    connections: () => connections,
    write: () => {
      end += 1;
    },
    answers: (does: boolean) => {
      answers = does;
    },
  };
};

test('a follower that receives none of the existing records is not ready, and connects again after three checks', async () => {
  const { follower, connections, write } = broker(1);
  write();
  await vi.advanceTimersByTimeAsync(9999);
  expect([follower.ready, connections()]).toEqual([true, 1]);
  await vi.advanceTimersByTimeAsync(1);
  expect([follower.ready, connections()]).toEqual([false, 1]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(connections()).toBe(2);
  await vi.advanceTimersByTimeAsync(5000);
  expect(follower.ready).toBe(true);
  follower.stop();
});

test('each further connection gets more time if a new one does not help, because a broker may be slow', async () => {
  const { follower, connections, write } = broker(3);
  write();
  await vi.advanceTimersByTimeAsync(20_000);
  expect(connections()).toBe(2);
  await vi.advanceTimersByTimeAsync(24_999);
  expect(connections()).toBe(2);
  await vi.advanceTimersByTimeAsync(1);
  expect(connections()).toBe(3);
  follower.stop();
});

test('a follower does not connect again while it reads everything, or while there is nothing to read', async () => {
  const { follower, connections, write } = broker(0);
  for (let i = 0; i < 20; i++) {
    if (i > 10) write();
    await vi.advanceTimersByTimeAsync(3000);
    expect(follower.ready).toBe(true);
  }
  expect(connections()).toBe(1);
  follower.stop();
});

test('a follower is not ready while no broker answers, and does not connect again, because that would not help', async () => {
  const { follower, connections, write, answers } = broker(1);
  write();
  answers(false);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([follower.ready, connections()]).toEqual([false, 1]);
  answers(true);
  await vi.advanceTimersByTimeAsync(5000);
  expect(follower.ready).toBe(true);
  follower.stop();
});

test('a stopped follower does not check any more', async () => {
  const { follower, connections, write } = broker(5);
  write();
  follower.stop();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(connections()).toBe(1);
});

test('a follower of many topics on a distant broker is ready', async () => {
  const stableEnds = async () => {
    await new Promise((resolve) => setTimeout(resolve, 200));
    return [0];
  };
  const from = Array.from({ length: 40 }, (_, i) => ({ topic: `t${i}`, partition: 0, offset: 0 }));
  const follower = new Follower({ fetcher: () => fakeFetcher({ records: () => [] }) }, from, () => {}, stableEnds);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(follower.ready).toBe(true);
  follower.stop();
});
