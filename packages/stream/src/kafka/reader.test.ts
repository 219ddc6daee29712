import type { Fetcher } from 'kafkajs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { fakeFetcher, message } from './reader.fixture.ts';
import { Reader } from './reader.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const offsets = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => message(from + index));

/** A reader of [`from`, `until`) of the partition 0 of t. `opened`: how many fetchers it has had. */
const reading = (fetcher: (number: number) => Fetcher, from = 0, until = 10) => {
  let opened = 0;
  const kafka = { fetcher: () => fetcher(++opened) };
  const seen: number[] = [];
  const reader = new Reader(kafka, [{ topic: 't', partition: 0, offset: from, until }], ({ offset }) =>
    seen.push(offset),
  );
  let isDone = false;
  void reader.done.then(() => {
    isDone = true;
  });
  return { reader, seen, isDone: () => isDone, opened: () => opened };
};

const never = () => new Promise<never>(() => {});

test('its first request names its first offset, and it receives nothing before it', async () => {
  const asked: string[] = [];
  const { seen, isDone } = reading(
    () => fakeFetcher({ records: () => offsets(0, 10), onFetch: ({ offset }) => asked.push(offset) }),
    7,
  );
  await vi.advanceTimersByTimeAsync(0);
  expect([seen, asked, isDone()]).toEqual([[7, 8, 9], ['7'], true]);
});

test('it delivers no record at or behind its end, and is done there', async () => {
  const { seen, isDone } = reading(() => fakeFetcher({ records: () => offsets(0, 20) }), 0, 3);
  await vi.advanceTimersByTimeAsync(0);
  expect([seen, isDone()]).toEqual([[0, 1, 2], true]);
});

test('a short range requests few bytes, because the broker adds what follows it; a long one for at most a megabyte', async () => {
  const asked: number[] = [];
  const onFetch = ({ maxBytes }: { maxBytes: number }) => asked.push(maxBytes);
  reading(() => fakeFetcher({ records: () => offsets(0, 20), onFetch }), 5, 6);
  const { reader } = reading(() => fakeFetcher({ records: () => [], onFetch }), 0, 1_000_000);
  await vi.advanceTimersByTimeAsync(0);
  reader.stop();
  expect(asked).toEqual([16 << 10, 1 << 20]);
});

test('a range that ends with control records is done behind them', async () => {
  const { seen, isDone } = reading(() => fakeFetcher({ records: () => offsets(0, 8), end: 10 }));
  await vi.advanceTimersByTimeAsync(0);
  expect([seen.length, isDone()]).toEqual([8, true]);
});

test('an answer may take 4.9 s; without one for more than 5 s the reader connects again, and reads on from its position', async () => {
  const { seen, isDone, opened } = reading((number) =>
    number === 1
      ? fakeFetcher({ records: () => offsets(0, 4), end: 4, answers: (offset) => (offset < 4 ? null : never()) })
      : fakeFetcher({ records: () => offsets(0, 10) }),
  );
  await vi.advanceTimersByTimeAsync(4900);
  expect([seen, opened()]).toEqual([[0, 1, 2, 3], 1]);
  await vi.advanceTimersByTimeAsync(1000);
  expect([seen, opened(), isDone()]).toEqual([[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 2, true]);
});

test('a broker that answers after half a minute is read, because every fetcher waits longer than the previous one', async () => {
  const later = () => new Promise<null>((resolve) => setTimeout(() => resolve(null), 30_000));
  const { isDone } = reading(() => fakeFetcher({ records: () => offsets(0, 10), answers: later }));
  await vi.advanceTimersByTimeAsync(120_000);
  expect(isDone()).toBe(true);
});

test('a request that fails is repeated with new metadata, after a pause that grows to a second', async () => {
  const failures: number[] = [];
  let refreshed = 0;
  const { reader } = reading(() =>
    fakeFetcher({
      records: () => [],
      onRefresh: () => refreshed++,
      answers: async () => {
        failures.push(Date.now());
        throw new Error('NOT_LEADER_FOR_PARTITION');
      },
    }),
  );
  await vi.advanceTimersByTimeAsync(4000);
  reader.stop();
  const pauses = failures.slice(1).map((at, index) => at - failures[index]!);
  expect(pauses).toEqual([50, 100, 200, 400, 800, 1000, 1000]);
  expect(refreshed).toBe(failures.length - 1);
});

test('where retention has removed its offset, it reads from the first one that is left', async () => {
  const outOfRange = Object.assign(new Error('gone'), { type: 'OFFSET_OUT_OF_RANGE', topic: 't', partition: 0 });
  const { seen, isDone } = reading(() =>
    fakeFetcher({
      records: () => offsets(6, 10),
      earliest: 6,
      answers: async (offset) => {
        if (offset < 6) throw outOfRange;
        return null;
      },
    }),
  );
  await vi.advanceTimersByTimeAsync(0);
  expect([seen, isDone()]).toEqual([[6, 7, 8, 9], true]);
});

test('an offset that the broker does not have yet is waited for, and nothing before it is delivered', async () => {
  const outOfRange = Object.assign(new Error('ahead'), { type: 'OFFSET_OUT_OF_RANGE', topic: 't', partition: 0 });
  let end = 5;
  const { seen, isDone } = reading(
    () =>
      fakeFetcher({
        records: () => offsets(0, end),
        answers: async (offset) => {
          if (offset > end) throw outOfRange;
          return null;
        },
      }),
    8,
  );
  await vi.advanceTimersByTimeAsync(1000);
  expect(seen).toEqual([]);
  end = 10;
  await vi.advanceTimersByTimeAsync(1000);
  expect([seen, isDone()]).toEqual([[8, 9], true]);
});

test('a broker that does not answer holds up no partition of another one', async () => {
  const read: number[] = [];
  const kafka = {
    fetcher: () =>
      fakeFetcher({
        records: () => offsets(0, 10),
        leaderOf: (partition) => String(partition),
        answers: (_, partition) => (partition === 0 ? never() : null),
      }),
  };
  const from = [0, 1].map((partition) => ({ topic: 't', partition, offset: 0, until: 10 }));
  const reader = new Reader(kafka, from, ({ partition }) => read.push(partition));
  await vi.advanceTimersByTimeAsync(0);
  expect(read).toEqual(Array(10).fill(1));
  reader.stop();
});

test('the error of a caller ends the reading, and is rethrown', async () => {
  const kafka = { fetcher: () => fakeFetcher({ records: () => offsets(0, 10) }) };
  const reader = new Reader(kafka, [{ topic: 't', partition: 0, offset: 0, until: 10 }], () => {
    throw new Error('unreadable');
  });
  await expect(reader.done).rejects.toThrow('unreadable');
});

test.each(['connect', 'leaders', 'fetch'] as const)(
  'a reader that stops while it waits for %s sends no further request, and delivers nothing',
  async (slow) => {
    const finish = Promise.withResolvers<void>();
    const calls: string[] = [];
    const step = async (name: string) => {
      calls.push(name);
      if (name === slow) await finish.promise;
    };
    const { reader, seen } = reading(() => fakeFetcher({ records: () => offsets(0, 10), onCall: step }));
    await vi.advanceTimersByTimeAsync(0);
    expect(calls.at(-1)).toBe(slow);
    reader.stop();
    finish.resolve();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([calls.slice(calls.indexOf(slow)), seen]).toEqual([[slow, 'disconnect'], []]);
  },
);
