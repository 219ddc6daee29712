import type { Kafka } from 'kafkajs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Reader } from './reader.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/**
 * A cluster that delays each new group by `joinMs`. Then it assigns the one partition, and delivers its records after
 * `fetchMs`.
 */
const holdingBack = (joinMs: number, fetchMs: number) => {
  let consumers = 0;
  const consumer = () => {
    consumers += 1;
    const listeners = new Map<string, (event: object) => void>();
    let connected = true;
    const emit = (event: string, payload: object) => {
      if (connected) listeners.get(event)?.({ payload });
    };
    return {
      events: { CRASH: 'crash', GROUP_JOIN: 'join', END_BATCH_PROCESS: 'end' },
      on: (event: string, listener: (event: object) => void) => void listeners.set(event, listener),
      connect: async () => {},
      subscribe: async () => {},
      run: async () => {
        setTimeout(() => emit('join', { memberAssignment: { t: [0] } }), joinMs);
        setTimeout(() => emit('end', { topic: 't', partition: 0, lastOffset: '9' }), joinMs + fetchMs);
      },
      seek: () => {},
      pause: () => {},
      disconnect: async () => {
        connected = false;
      },
    };
  };
  return { kafka: { consumer } as unknown as Kafka, consumers: () => consumers };
};
const reading = (kafka: Kafka) => {
  const reader = new Reader(kafka, 'test', [{ topic: 't', partition: 0, offset: 0, until: 10 }], () => {});
  let isDone = false;
  void reader.done.then(() => {
    isDone = true;
  });
  return { reader, isDone: () => isDone };
};

test('the time to join a group is not counted against the consumer that has joined', async () => {
  const { kafka, consumers } = holdingBack(4000, 4000);
  const { isDone } = reading(kafka);
  await vi.advanceTimersByTimeAsync(9000);
  expect([isDone(), consumers()]).toEqual([true, 1]);
});

test('the reader joins even if the broker delays its group for half a minute, because every consumer waits longer than the previous one', async () => {
  const { kafka, consumers } = holdingBack(30_000, 0);
  const { isDone } = reading(kafka);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(isDone()).toBe(true);
  expect(consumers()).toBe(4);
});

test('a consumer that joins and reads nothing is replaced after five seconds', async () => {
  const { kafka, consumers } = holdingBack(0, 1_000_000);
  const { reader } = reading(kafka);
  await vi.advanceTimersByTimeAsync(5000);
  expect(consumers()).toBe(1);
  await vi.advanceTimersByTimeAsync(1000);
  expect(consumers()).toBe(2);
  reader.stop();
});

test('a consumer that was replaced while it joined is not sought any more: it is disconnected, and would crash', async () => {
  const joins: (() => void)[] = [];
  const seeks: number[] = [];
  const consumer = () => {
    const mine = joins.length;
    return {
      events: { CRASH: 'crash', GROUP_JOIN: 'join', END_BATCH_PROCESS: 'end' },
      on: (event: string, listener: (event: object) => void) => {
        if (event === 'join') joins.push(() => listener({ payload: { memberAssignment: { t: [0] } } }));
      },
      connect: async () => {},
      subscribe: async () => {},
      run: async () => {},
      seek: () => seeks.push(mine),
      disconnect: async () => {},
    };
  };
  const { reader } = reading({ consumer } as unknown as Kafka);
  await vi.advanceTimersByTimeAsync(6000);
  expect(joins).toHaveLength(2);
  for (const join of joins) join();
  expect(seeks).toEqual([1]);
  reader.stop();
});

test.each(['connect', 'subscribe', 'run'] as const)(
  'a reader that stops while its consumer is in %s goes no further, and leaves nothing that reads',
  async (slow) => {
    const calls: string[] = [];
    const finish = Promise.withResolvers<void>();
    const step = (name: string) => async () => {
      calls.push(name);
      if (name === slow) await finish.promise;
    };
    const consumer = () => ({
      events: { CRASH: 'crash', GROUP_JOIN: 'join', END_BATCH_PROCESS: 'end' },
      on: () => {},
      ...{ connect: step('connect'), subscribe: step('subscribe'), run: step('run'), disconnect: step('disconnect') },
    });
    const { reader } = reading({ consumer } as unknown as Kafka);
    await vi.advanceTimersByTimeAsync(0);
    expect(calls.at(-1)).toBe(slow);
    reader.stop();
    finish.resolve();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(calls.slice(calls.indexOf(slow))).toEqual([slow, 'disconnect', 'disconnect']);
  },
);
