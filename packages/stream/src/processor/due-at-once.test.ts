import type { Draft, HealthEvent } from '@vigil/events';
import { expect, test } from 'vitest';
import type { OutRecord } from '../log/log.ts';
import { dependencies, jsonCodec, listening, topicsOf } from '../runner/processors.fixture.ts';
import { MemoryLog } from '../testing/memory/memory-log.ts';
import { type Decider, NEVER } from './decider.ts';
import { PartitionTask } from './partition-task.ts';
import { DUE_AT_ONCE } from './processor-logic.ts';
import { SharedWriter } from './shared-writer.ts';
import type { AnyDecider } from './topology.ts';

const NOW = 1_795_305_600_000;
const LIMIT_MS = 5000;
const OUT = 'run.out';
type State = { readonly key: string; readonly since: number; readonly isReported: boolean };

/** Reports once that a key has been silent for the limit. */
const silence: Decider<State, HealthEvent, Draft> = {
  initial: { key: '', since: 0, isReported: false },
  observe: (_, { key }, { now }) => ({ key, since: now, isReported: false }),
  decide: ({ key, since, isReported }, { now }) =>
    isReported || key === '' || now < since + LIMIT_MS
      ? []
      : [{ topic: OUT, type: 'OLD', key, payload: { at: now } } as unknown as Draft],
  evolve: (state) => ({ ...state, isReported: true }),
  dueAt: ({ key, since, isReported }) => (key === '' || isReported ? NEVER : since + LIMIT_MS),
};

const names = (count: number) => Array.from({ length: count }, (_, n) => `agent-${String(n).padStart(5, '0')}`);
const heartbeat = Buffer.from(JSON.stringify({ type: 'HEARTBEAT', payload: {} }));

/** A log whose transactions are kept. `failing.after`: the number of transactions after which each one fails. */
const logged = () => {
  const log = new MemoryLog({ topics: topicsOf('run', 1), codec: jsonCodec(), now: () => NOW });
  const transactions: (readonly OutRecord[])[] = [];
  const failing = { after: Number.POSITIVE_INFINITY };
  const committed = { next: () => {} };
  const fence: MemoryLog['fence'] = async (id) => {
    const transactor = await log.fence(id);
    const commit: typeof transactor.commit = async (records) => {
      if (transactions.length >= failing.after) throw new Error('the broker is away');
      await transactor.commit(records);
      transactions.push(records);
      committed.next();
    };
    return { ...transactor, commit };
  };
  const opened = async (id: string) => {
    const processor = listening('run', { decider: silence as unknown as AnyDecider['decider'] });
    const task = new PartitionTask(log, processor, dependencies());
    await task.open(new SharedWriter({ log: { fence }, id, former: new Set(), onCommitted: () => {} }));
    transactions.splice(0);
    return task;
  };
  const append = (ms: number, keys: readonly string[]) =>
    log.append(
      keys.map((key) => ({
        topic: 'run.in',
        partition: 0,
        timestamp: NOW + ms,
        key,
        value: key.startsWith('@') ? null : heartbeat,
      })),
    );
  const rest = async (task: PartitionTask) => {
    const fetched = task.positions.get('run.in') as number;
    const records = log.records('run.in').slice(fetched);
    await task.take({
      topic: 'run.in',
      partition: 0,
      fetched,
      next: fetched + records.length,
      end: fetched + records.length,
      records,
    });
  };
  const reported = () => log.records(OUT).filter(({ key }) => !key?.startsWith('@'));
  return { log, transactions, failing, committed, opened, append, rest, reported };
};

const keysOf = (records: readonly { readonly key: string | null }[]) => records.map(({ key }) => key);
const decidedIn = (records: readonly OutRecord[]) =>
  records.filter(({ topic, key }) => topic === OUT && !key?.startsWith('@')).length;
const ticksIn = (records: readonly OutRecord[]) =>
  records.filter(({ topic, key }) => topic === OUT && key?.startsWith('@tick/')).length;

test.each([
  [DUE_AT_ONCE, [DUE_AT_ONCE]],
  [DUE_AT_ONCE + 1, [DUE_AT_ONCE, 1]],
  [2 * DUE_AT_ONCE + 500, [DUE_AT_ONCE, DUE_AT_ONCE, 500]],
])('%i agents silent at one tick are decided in order, in transactions of %j', async (count, sizes) => {
  const w = logged();
  const task = await w.opened('first');
  w.append(0, names(count));
  await w.rest(task);
  w.transactions.splice(0);
  w.append(LIMIT_MS, ['@tick/0']);
  await w.rest(task);
  expect(w.transactions.map(decidedIn)).toEqual(sizes);
  expect(keysOf(w.reported())).toEqual(names(count));
  const times = w.reported().map(({ value }) => JSON.parse(String(value)).payload.at as number);
  expect(new Set(times)).toEqual(new Set([NOW + LIMIT_MS]));
});

test('time passes with the last transaction of a tick only', async () => {
  const w = logged();
  const task = await w.opened('first');
  w.append(0, names(DUE_AT_ONCE + 1));
  await w.rest(task);
  w.transactions.splice(0);
  w.append(LIMIT_MS, ['@tick/0']);
  await w.rest(task);
  expect(w.transactions.map(ticksIn)).toEqual([0, 1]);
  expect(task.clock.own.tick).toBe(NOW + LIMIT_MS);
});

test('after a crash between two transactions of a tick, another task decides the rest at the same time', async () => {
  const w = logged();
  const first = await w.opened('first');
  w.append(0, names(DUE_AT_ONCE + 1));
  await w.rest(first);
  w.append(LIMIT_MS, ['@tick/0']);
  w.failing.after = w.transactions.length + 1;
  await expect(w.rest(first)).rejects.toThrow('the broker is away');
  expect(w.reported()).toHaveLength(DUE_AT_ONCE);
  w.failing.after = Number.POSITIVE_INFINITY;
  const second = await w.opened('second');
  await w.rest(second);
  expect(keysOf(w.reported())).toEqual(names(DUE_AT_ONCE + 1));
  const ids = w.reported().map(({ value }) => JSON.parse(String(value)).eventId as string);
  expect([ids[0], new Set(ids).size]).toEqual([expect.any(String), DUE_AT_ONCE + 1]);
  expect(w.transactions.map(ticksIn)).toEqual([1]);
});

test('records after such a tick wait for its last transaction, and a silent agent that reports then is known', async () => {
  const w = logged();
  const task = await w.opened('first');
  w.append(0, names(DUE_AT_ONCE + 1));
  await w.rest(task);
  w.append(LIMIT_MS, ['@tick/0', 'agent-00000']);
  w.append(2 * LIMIT_MS, ['@tick/0']);
  await w.rest(task);
  const last = keysOf(w.reported()).slice(DUE_AT_ONCE + 1);
  expect(last).toEqual(['agent-00000']);
});

test('a batch with more outputs than a transaction takes has several', async () => {
  const w = logged();
  const task = await w.opened('first');
  const ticks = Array.from({ length: 12_000 }, () => '@tick/0');
  w.append(0, ['agent-00000']);
  await w.rest(task);
  w.transactions.splice(0);
  w.append(1, ticks);
  await w.rest(task);
  expect(w.transactions.map(ticksIn).reduce((sum, n) => sum + n, 0)).toBe(12_000);
  expect(w.transactions.length).toBeGreaterThan(1);
});

test('a task that is closed within a long tick gives its partition up after the present transaction, and another decides the rest', async () => {
  const w = logged();
  const first = await w.opened('first');
  w.append(0, names(3 * DUE_AT_ONCE));
  await w.rest(first);
  w.transactions.splice(0);
  w.append(LIMIT_MS, ['@tick/0']);
  w.committed.next = () => first.lose();
  await expect(w.rest(first)).rejects.toThrow('the task is lost');
  await first.close();
  expect(w.transactions.map(decidedIn)).toEqual([DUE_AT_ONCE, 0]);
  w.committed.next = () => {};
  const second = await w.opened('second');
  await w.rest(second);
  expect(keysOf(w.reported())).toEqual(names(3 * DUE_AT_ONCE));
});
