import { expect, test, vi } from 'vitest';
import type { OutRecord } from '../log/log.ts';
import { CHUNK_BYTES } from './records.ts';
import { type ProducerLimits, Refusal, type Sender, SerializedProducer } from './serialized-producer.ts';

const LIMITS: ProducerLimits = { giveUpMs: 60_000, againMs: 1 };
const record = (key: string, partition: number, bytes = 1): OutRecord => ({
  topic: 't',
  partition,
  key,
  value: Buffer.alloc(bytes),
});

type Broker = (keys: readonly string[], sender: number) => Promise<void>;

/** A queue and the sent batches: the number of the sender, then the keys. */
const queueOn = (broker: Broker, limits: Partial<ProducerLimits> = {}) => {
  const sends: string[] = [];
  const closed: number[] = [];
  let opened = 0;
  const open = (): Sender => {
    opened += 1;
    const sender = opened;
    return {
      open: async () => {},
      send: (records) => {
        const keys = records.map(({ key }) => key ?? '');
        sends.push(`${sender}: ${keys.join(' ')}`);
        return broker(keys, sender).then(() => null);
      },
      close: async () => void closed.push(sender),
    };
  };
  return { queue: new SerializedProducer(open, { ...LIMITS, ...limits }), sends, closed };
};
const taken: Broker = async () => {};
const never = () => new Promise<void>(() => {});
const noLeader: Broker = async (keys) => {
  if (keys.some((key) => key.startsWith('lost'))) throw new Error('there is no leader');
};
const waitFor = (holds: () => void) => vi.waitFor(holds, { timeout: 10_000, interval: 1 });

test('records that are written to a partition at one moment go in one send; later ones go with the next', async () => {
  const first = Promise.withResolvers<void>();
  const { queue, sends } = queueOn((keys) => (keys.includes('a') ? first.promise : Promise.resolve()));
  const writes = [queue.write([record('a', 0)]), queue.write([record('b', 0)])];
  await waitFor(() => expect(sends).toEqual(['1: a b']));
  writes.push(queue.write([record('c', 0)]), queue.write([record('d', 0)]));
  first.resolve();
  await Promise.all(writes);
  expect(sends).toEqual(['1: a b', '1: c d']);
});

test('no send has two partitions: if one of them failed, the other would be written twice', async () => {
  let tries = 0;
  const { queue, sends } = queueOn(async (keys) => {
    if (!keys.includes('lost')) return;
    tries += 1;
    if (tries < 3) throw new Error('there is no leader');
  });
  await queue.write([record('lost', 0), record('a', 1)]);
  expect(sends.toSorted()).toEqual(['1: a', '1: lost', '1: lost', '1: lost']);
});

test('a partition without a leader delays no other: the others continue while it is retried alone', async () => {
  let isLed = false;
  const { queue, sends } = queueOn((keys, sender) => (isLed ? taken(keys, sender) : noLeader(keys, sender)));
  const lost = queue.write([record('lost', 0)]);
  const beside = queue.write([record('a', 1)]);
  await beside;
  for (const key of ['b', 'c', 'd']) await queue.write([record(key, 1)]);
  const behind = queue.write([record('behind', 0)]);
  isLed = true;
  await Promise.all([lost, behind]);
  const own = sends.filter((send) => send.includes('behind'));
  expect(own).toEqual(['1: behind']);
});

test('a partition that stays without a leader fails its own callers only', async () => {
  const { queue } = queueOn(noLeader, { giveUpMs: 20 });
  const both = queue.write([record('lost', 0), record('a', 1)]);
  const other = queue.write([record('b', 1)]);
  await expect(both).rejects.toThrow('there is no leader');
  await expect(other).resolves.toBeNull();
});

test('records queued behind a send that times out fail with it, so no caller waits twice as long', async () => {
  const { queue, sends } = queueOn(noLeader, { giveUpMs: 50 });
  const lost = queue.write([record('lost', 0)]);
  await waitFor(() => expect(sends.length).toBeGreaterThan(1));
  const behind = queue.write([record('behind', 0)]);
  await expect(lost).rejects.toThrow('there is no leader');
  await expect(behind).rejects.toThrow('there is no leader');
  expect(sends.join(' ')).not.toContain('behind');
  await expect(queue.write([record('later', 0)])).resolves.toBeNull();
});

test('a send is repeated unchanged by the same sender, and after one that failed another sender begins', async () => {
  const { queue, sends, closed } = queueOn(noLeader, { giveUpMs: 20 });
  await expect(queue.write([record('lost', 0)])).rejects.toThrow();
  expect(new Set(sends)).toEqual(new Set(['1: lost']));
  await queue.write([record('a', 0)]);
  expect(sends.at(-1)).toBe('2: a');
  expect(closed).toEqual([1]);
});

test('a sender that another partition still uses is not closed', async () => {
  const slow = Promise.withResolvers<void>();
  const { queue, sends, closed } = queueOn(
    async (keys, sender) => (keys.includes('slow') ? slow.promise : noLeader(keys, sender)),
    { giveUpMs: 50 },
  );
  const lost = queue.write([record('lost', 0)]);
  await waitFor(() => expect(sends.length).toBeGreaterThan(1));
  const held = queue.write([record('slow', 1)]);
  await expect(lost).rejects.toThrow('there is no leader');
  await queue.write([record('a', 0)]);
  expect(sends.at(-1)).toBe('2: a');
  expect(closed).toEqual([]);
  slow.resolve();
  await held;
  await waitFor(() => expect(closed).toEqual([1]));
});

test('a record that a broker refuses for good fails at once, and fails its own partition only', async () => {
  const { queue, sends } = queueOn(async (keys) => {
    if (keys.includes('large')) throw new Refusal('too large');
  });
  const large = queue.write([record('large', 0)]);
  const other = queue.write([record('a', 1)]);
  await expect(large).rejects.toThrow('too large');
  await other;
  expect(sends.filter((send) => send.includes('large'))).toHaveLength(1);
});

test('a send without an answer fails its callers, and later ones are sent by another sender', async () => {
  const { queue, sends, closed } = queueOn((_, sender) => (sender === 1 ? never() : Promise.resolve()), {
    giveUpMs: 10,
  });
  await expect(queue.write([record('a', 0)])).rejects.toThrow('no answer');
  await queue.write([record('b', 0)]);
  expect(sends).toEqual(['1: a', '2: b']);
  await waitFor(() => expect(closed).toEqual([1]));
});

test('records of a partition are never sent side by side or out of order', async () => {
  const under = new Set<number>();
  const order: string[] = [];
  let tries = 0;
  const { queue } = queueOn(async (keys) => {
    const partitions = new Set(keys.map((key) => Number(key.split('/')[0])));
    for (const partition of partitions) {
      expect(under.has(partition)).toBe(false);
      under.add(partition);
    }
    await new Promise((resolve) => setImmediate(resolve));
    for (const partition of partitions) under.delete(partition);
    tries += 1;
    if (tries % 3 === 0) throw new Error('not now');
    order.push(...keys);
  });
  const writes: Promise<unknown>[] = [];
  for (let n = 0; n < 60; n++) {
    writes.push(queue.write([record(`${n % 3}/${n}`, n % 3)]));
    if (n % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(writes);
  const first = [...new Set(order)];
  for (const partition of ['0', '1', '2']) {
    const numbers = first.filter((key) => key.startsWith(`${partition}/`)).map((key) => Number(key.split('/')[1]));
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    expect(numbers).toHaveLength(20);
  }
});

test('a send stays below the broker’s limit, and one write may need several sends', async () => {
  const { queue, sends } = queueOn(taken);
  const half = CHUNK_BYTES / 2 - 200;
  await queue.write([record('a', 0, half), record('b', 0, half), record('c', 0, half), record('d', 1, half)]);
  expect(sends).toEqual(['1: a b', '1: d', '1: c']);
});

test('closing waits for the sends in progress, and closes the sender', async () => {
  const first = Promise.withResolvers<void>();
  const { queue, closed } = queueOn(() => first.promise);
  const write = queue.write([record('a', 0)]);
  const close = queue.close();
  expect(closed).toEqual([]);
  first.resolve();
  await write;
  await close;
  expect(closed).toEqual([1]);
});

test('a write resolves to the newest timestamp that a broker gave to its records', async () => {
  const stamps: (number | null)[] = [null, 7, 9];
  const send = async () => stamps.shift() ?? null;
  const queue = new SerializedProducer(() => ({ open: async () => {}, send, close: async () => {} }), LIMITS);
  expect(await queue.write([record('a', 0)])).toBeNull();
  const large = CHUNK_BYTES - 200;
  expect(await queue.write([record('b', 0, large), record('c', 1, large)])).toBe(9);
});
