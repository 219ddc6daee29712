import type { Kafka } from 'kafkajs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Follower } from './follower.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A broker with one partition that delivers nothing to the consumers numbered up to `deafTo`. */
const broker = (deafTo: number) => {
  let consumers = 0;
  let end = 0;
  let answers = true;
  const consumer = () => {
    consumers += 1;
    const isDeaf = consumers <= deafTo;
    const listeners = new Map<string, (event: object) => void>();
    let timer: NodeJS.Timeout | undefined;
    const emit = (event: string, payload: object) => listeners.get(event)?.({ payload });
    return {
      events: { CRASH: 'crash', GROUP_JOIN: 'join', END_BATCH_PROCESS: 'end' },
      on: (event: string, listener: (event: object) => void) => void listeners.set(event, listener),
      connect: async () => {},
      subscribe: async () => {},
      run: async () => {
        if (isDeaf) return;
        emit('join', { memberAssignment: { t: [0] } });
        timer = setInterval(() => emit('end', { topic: 't', partition: 0, lastOffset: String(end - 1) }), 100);
      },
      seek: () => {},
      pause: () => {},
      disconnect: async () => clearInterval(timer),
    };
  };
  const stableEnds = async () => {
    if (!answers) throw new Error('no broker answers');
    return [end];
  };
  const from = [{ topic: 't', partition: 0, offset: 0 }];
  const follower = new Follower({ consumer } as unknown as Kafka, 'test', from, () => {}, stableEnds);
  return {
    follower,
    consumers: () => consumers,
    write: () => {
      end += 1;
    },
    answers: (does: boolean) => {
      answers = does;
    },
  };
};

test('a follower that receives none of the existing records is not ready, and restarts its consumer after three checks', async () => {
  const { follower, consumers, write } = broker(1);
  write();
  await vi.advanceTimersByTimeAsync(9999);
  expect([follower.ready, consumers()]).toEqual([true, 1]);
  await vi.advanceTimersByTimeAsync(1);
  expect([follower.ready, consumers()]).toEqual([false, 1]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(consumers()).toBe(2);
  await vi.advanceTimersByTimeAsync(5000);
  expect(follower.ready).toBe(true);
  follower.stop();
});

test('each further consumer gets more time if a restart does not help, because a broker may keep a group waiting', async () => {
  const { follower, consumers, write } = broker(3);
  write();
  await vi.advanceTimersByTimeAsync(20_000);
  expect(consumers()).toBe(2);
  await vi.advanceTimersByTimeAsync(24_999);
  expect(consumers()).toBe(2);
  await vi.advanceTimersByTimeAsync(1);
  expect(consumers()).toBe(3);
  follower.stop();
});

test('a follower does not restart while it reads everything, or while there is nothing to read', async () => {
  const { follower, consumers, write } = broker(0);
  for (let i = 0; i < 20; i++) {
    if (i > 10) write();
    await vi.advanceTimersByTimeAsync(3000);
    expect(follower.ready).toBe(true);
  }
  expect(consumers()).toBe(1);
  follower.stop();
});

test('a follower is not ready while no broker answers, and does not restart, because that would not help', async () => {
  const { follower, consumers, write, answers } = broker(1);
  write();
  answers(false);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([follower.ready, consumers()]).toEqual([false, 1]);
  answers(true);
  await vi.advanceTimersByTimeAsync(5000);
  expect(follower.ready).toBe(true);
  follower.stop();
});

test('a stopped follower does not check any more', async () => {
  const { follower, consumers, write } = broker(5);
  write();
  follower.stop();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(consumers()).toBe(1);
});

test('a follower of many topics on a distant broker is ready', async () => {
  const consumer = () => ({
    events: { CRASH: 'crash', GROUP_JOIN: 'join', END_BATCH_PROCESS: 'end' },
    ...{ on: () => {}, connect: async () => {}, subscribe: async () => {}, run: async () => {} },
    ...{ seek: () => {}, pause: () => {}, disconnect: async () => {} },
  });
  const stableEnds = async () => {
    await new Promise((resolve) => setTimeout(resolve, 200));
    return [0];
  };
  const from = Array.from({ length: 40 }, (_, i) => ({ topic: `t${i}`, partition: 0, offset: 0 }));
  const follower = new Follower({ consumer } as unknown as Kafka, 'test', from, () => {}, stableEnds);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(follower.ready).toBe(true);
  follower.stop();
});
