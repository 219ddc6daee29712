import { expect, test } from 'vitest';
import type { Log, OutRecord } from '../log/log.ts';
import { jsonCodec } from '../runner/processors.fixture.ts';
import { MemoryLog } from '../testing/memory/memory-log.ts';
import { SharedWriter } from './shared-writer.ts';

const record = (key: string, partition = 0): OutRecord => ({ topic: 't', partition, key, value: Buffer.from('1') });

/** A writer, the records of each of its transactions, and a gate that holds a commit up. */
const opened = () => {
  const log = new MemoryLog({ topics: { t: 4 }, codec: jsonCodec() });
  const transactions: (readonly string[])[] = [];
  const fenced: string[] = [];
  const gate = { open: Promise.resolve() };
  const fence: Log['fence'] = async (id) => {
    fenced.push(id);
    const transactor = await log.fence(id);
    const commit: typeof transactor.commit = async (records) => {
      await gate.open;
      await transactor.commit(records);
      transactions.push(records.map(({ key }) => String(key)));
    };
    return { ...transactor, commit };
  };
  const durations: number[] = [];
  const writer = new SharedWriter({
    log: { fence },
    id: 'mine',
    former: new Set(),
    onCommitted: (ms) => durations.push(ms),
  });
  return { log, writer, transactions, fenced, gate, durations };
};

test('commits of the same moment share a transaction, and each ends with it', async () => {
  const { writer, transactions, durations } = opened();
  await Promise.all([writer.commit([record('a')]), writer.commit([record('b', 1)]), writer.commit([record('c', 2)])]);
  expect(transactions).toEqual([['a', 'b', 'c']]);
  expect(durations).toHaveLength(1);
});

test('commits that arrive during a transaction share the next one, in their order', async () => {
  const { writer, transactions, gate } = opened();
  const held = Promise.withResolvers<void>();
  gate.open = held.promise;
  const first = writer.commit([record('a')]);
  await new Promise((resolve) => setImmediate(resolve));
  const others = ['b', 'c'].map((key) => writer.commit([record(key)]));
  held.resolve();
  await Promise.all([first, ...others]);
  expect(transactions).toEqual([['a'], ['b', 'c']]);
});

test.each([
  [10_000, 10_000, 1],
  [10_000, 10_001, 2],
  [30_000, 1, 2],
])('commits of %i and %i records share a transaction of at most 20,000: %i', async (first, second, count) => {
  const { writer, transactions } = opened();
  const many = (n: number) => Array.from({ length: n }, (_, key) => record(String(key)));
  await Promise.all([writer.commit(many(first)), writer.commit(many(second))]);
  expect(transactions).toHaveLength(count);
  expect(transactions.flat()).toHaveLength(first + second);
});

test('a commit that fails fails for all that shared it, and the writer commits nothing more', async () => {
  const { log, writer, transactions } = opened();
  await writer.commit([record('a')]);
  await log.fence('mine');
  const together = await Promise.allSettled([writer.commit([record('b')]), writer.commit([record('c', 1)])]);
  expect(together.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(writer.works).toBe(false);
  await expect(writer.commit([record('d')])).rejects.toMatchObject({ name: 'Retry' });
  expect(transactions).toEqual([['a']]);
});

test('another writer is fenced once, also if several partitions find its key', async () => {
  const { log, writer, fenced } = opened();
  const other = await log.fence('other');
  await Promise.all([writer.fence('other'), writer.fence('other')]);
  await writer.fence('other');
  expect(fenced).toEqual(['other']);
  await expect(other.commit([record('a')])).rejects.toMatchObject({ name: 'Retry' });
});

test('a fence that failed is tried again', async () => {
  let attempts = 0;
  const fence: Log['fence'] = async () => {
    attempts += 1;
    if (attempts === 1) throw new Error('the broker is away');
    return { commit: async () => {}, close: async () => {} };
  };
  const writer = new SharedWriter({ log: { fence }, id: 'mine', former: new Set(), onCommitted: () => {} });
  await expect(writer.fence('other')).rejects.toThrow('away');
  await writer.fence('other');
  expect(attempts).toBe(2);
});

test('a writer that has committed nothing takes no transactional id', async () => {
  const { writer, fenced } = opened();
  await writer.close();
  expect(fenced).toEqual([]);
});
