import { RegistryTrouble } from '@vigil/events';
import { expect, test } from 'vitest';
import type { Batch, Log } from '../log/log.ts';
import { dependencies, jsonCodec, listening, topicsOf, writerOn } from '../runner/processors.fixture.ts';
import { MemoryLog } from '../testing/memory/memory-log.ts';
import { PartitionTask } from './partition-task.ts';
import type { AnyDecider } from './topology.ts';

const opened = async (rest: Partial<AnyDecider> = {}) => {
  const log = new MemoryLog({ topics: topicsOf('run', 1), codec: jsonCodec(), now: () => 1_795_305_600_000 });
  for (let i = 0; i < 5; i++)
    log.publishRaw('run.in', 'a', Buffer.from(JSON.stringify({ type: 'HEARTBEAT', payload: {} })));
  const task = new PartitionTask(log, listening('run', rest), dependencies());
  const writer = writerOn(log);
  await task.open(writer);
  const batch = (rest: Partial<Batch> = {}): Batch => ({
    topic: 'run.in',
    partition: 0,
    fetched: 0,
    next: 3,
    end: 5,
    records: log.records('run.in').slice(0, 3),
    ...rest,
  });
  return { log, task, writer, batch };
};

test('records below the position are dropped, so a fetch that began too early decides nothing twice', async () => {
  const { log, task, batch } = await opened();
  await task.take(batch());
  await task.take(batch());
  await task.take(batch({ next: 5, records: log.records('run.in') }));
  expect(log.events('run.out' as never)).toHaveLength(5);
});

test('a fetch that skipped records ends the process, because the client has lost its position', async () => {
  const { task, batch } = await opened();
  await expect(task.take(batch({ fetched: 1 }))).rejects.toMatchObject({
    name: 'Fatal',
    message: expect.stringContaining('jumped'),
  });
});

test('a log that ends before the position was truncated, and ends the process', async () => {
  const { task, batch } = await opened();
  await task.take(batch());
  await expect(task.take(batch({ end: 2 }))).rejects.toMatchObject({
    name: 'Fatal',
    message: expect.stringContaining('ends at 2'),
  });
});

test('a fetch of only control records moves the position in memory and writes nothing', async () => {
  const { log, task, batch } = await opened();
  await task.take(batch());
  const written = log.records('onex.snapshot.run.state.v1').length;
  task.skip({ topic: 'run.in', partition: 0, fetched: 3, next: 4 });
  task.skip({ topic: 'run.in', partition: 0, fetched: 9, next: 12 });
  task.skip({ topic: 'run.in', partition: 0, fetched: 0, next: 2 });
  expect(task.positions.get('run.in')).toBe(4);
  expect(log.records('onex.snapshot.run.state.v1')).toHaveLength(written);
});

test('a position past control records is written with the next transaction of any input, because the topic may be quiet for weeks', async () => {
  const { log, task, batch } = await opened();
  task.skip({ topic: 'run.other', partition: 0, fetched: 0, next: 2 });
  await task.take(batch());
  const written = () =>
    log
      .records('onex.snapshot.run.state.v1')
      .filter(({ key }) => key?.startsWith('@position/'))
      .map(({ key, value }) => [key, (JSON.parse(String(value)) as { next: number }).next]);
  expect(written()).toEqual([
    ['@position/run.other', 2],
    ['@position/run.in', 3],
  ]);
  await task.take(batch({ fetched: 3, next: 5, records: log.records('run.in').slice(3) }));
  expect(written().slice(2)).toEqual([['@position/run.in', 5]]);
});

test('outputs, changed states and the position are one transaction: one value a key, and the position of that input only', async () => {
  const { log, task, batch } = await opened();
  await task.take(batch());
  const [, ...written] = log.records('onex.snapshot.run.state.v1');
  expect(written.map(({ key }) => key)).toEqual(['a', '@rules', '@position/run.in']);
});

test('every position is stored with the partition count at its time of writing', async () => {
  const { log, task, batch } = await opened();
  await task.take(batch());
  const [position] = log.records('onex.snapshot.run.state.v1').filter(({ key }) => key === '@position/run.in');
  expect(JSON.parse(String(position?.value))).toMatchObject({ next: 3, partitions: 1 });
});

test('a topic with more partitions than at the start is refused when a partition is opened, also a new partition', async () => {
  const { log } = await opened();
  const grown = { ...topicsOf('run', 1), 'run.other': 2 };
  const other = new MemoryLog({ topics: grown, codec: jsonCodec() });
  await expect(new PartitionTask(other, listening('run'), dependencies()).open(writerOn(other))).rejects.toMatchObject({
    name: 'Refused',
    message: expect.stringContaining('run.other has 2 partitions and had 1'),
  });
  await expect(
    new PartitionTask(log, listening('run'), dependencies({ partition: 1 })).open(writerOn(log)),
  ).rejects.toMatchObject({
    name: 'Refused',
  });
});

test('a lost task accepts no batch, also if it is lost while it opens', async () => {
  const { log, task, batch } = await opened();
  task.lose();
  await expect(task.take(batch())).rejects.toMatchObject({ name: 'Retry' });
  const opening = new PartitionTask(log, listening('run'), dependencies());
  const open = opening.open(writerOn(log));
  opening.lose();
  await expect(open).rejects.toMatchObject({ name: 'Retry' });
});

/** The written positions, in order. */
const positionsIn = (log: MemoryLog) =>
  log
    .records('onex.snapshot.run.state.v1')
    .filter(({ key }) => key?.startsWith('@position/'))
    .map(({ key, value }) => [key, (JSON.parse(String(value)) as { next: number }).next]);

/** The same log, with the number of its transactions. */
const counted = (log: MemoryLog) => {
  let transactions = 0;
  const fence: Log['fence'] = async (id) => {
    const transactor = await log.fence(id);
    const commit: typeof transactor.commit = async (records) => {
      transactions += 1;
      await transactor.commit(records);
    };
    return { ...transactor, commit };
  };
  return { log: Object.assign(Object.create(log), { fence }) as Log, transactions: () => transactions };
};

/** A task without forwarded time, two ticks after three heartbeats, and the batch of those ticks. */
const withTicks = async () => {
  const opening = await opened({ ticks: [] });
  const { log, task, batch } = opening;
  await task.take(batch({ next: 5, records: log.records('run.in') }));
  const ticks = [1, 2].map((at) => ({ key: '@tick/0', value: null, timestamp: 1_795_305_600_000 + at }));
  log.append(ticks.map((tick) => ({ topic: 'run.in', partition: 0, ...tick })));
  const rest = { fetched: 5, next: 7, end: 7, records: log.records('run.in').slice(5) };
  return { ...opening, idle: batch(rest) };
};

test('batches of several topics that arrive together are one transaction, in the order of their arrival', async () => {
  const { log, batch } = await opened();
  const seen = counted(log);
  log.publishRaw('run.other', 'b', Buffer.from(JSON.stringify({ type: 'HEARTBEAT', payload: {} })));
  const task = new PartitionTask(seen.log, listening('run'), dependencies());
  await task.open(writerOn(seen.log));
  const before = seen.transactions();
  const other = { topic: 'run.other', next: 1, end: 1, records: log.records('run.other') };
  await Promise.all([task.take(batch(other)), task.take(batch())]);
  expect(seen.transactions() - before).toBe(1);
  expect(log.records('run.out').map(({ key }) => key)).toEqual(['b', 'a', 'a', 'a']);
  expect(positionsIn(log)).toEqual([
    ['@position/run.other', 1],
    ['@position/run.in', 3],
  ]);
});

test('a batch that waits for the registry holds up no other topic of its transaction', async () => {
  const { log, batch } = await opened();
  log.publishRaw('run.other', 'b', Buffer.from('?7'));
  const codec = { ...jsonCodec(), learn: () => Promise.reject(new RegistryTrouble('the registry is away')) };
  const task = new PartitionTask(log, listening('run'), dependencies({ codec }));
  await task.open(writerOn(log));
  const waits = task.take(batch({ topic: 'run.other', next: 1, end: 1, records: log.records('run.other') }));
  const [waiting, taken] = await Promise.allSettled([waits, task.take(batch())]);
  expect(waiting).toMatchObject({ status: 'rejected', reason: { name: 'RegistryTrouble' } });
  expect(taken.status).toBe('fulfilled');
  expect(task.waits).toBe(true);
  expect(Object.fromEntries(task.positions)).toEqual({ 'run.in': 3, 'run.other': 0 });
});

test('no batch of a transaction that fails is taken', async () => {
  const { task, batch } = await opened();
  const outcomes = await Promise.allSettled([
    task.take(batch()),
    task.take(batch({ topic: 'run.other', fetched: 1, next: 2, records: [] })),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(task.positions.get('run.in')).toBe(0);
});

test('ticks without an output or a changed state are read without a transaction, until the positions are written', async () => {
  const { log, task, idle } = await withTicks();
  const written = log.records('onex.snapshot.run.state.v1').length;
  await task.take(idle);
  expect(task.positions.get('run.in')).toBe(7);
  expect(log.records('onex.snapshot.run.state.v1')).toHaveLength(written);
  await task.writePositions();
  expect(positionsIn(log).at(-1)).toEqual(['@position/run.in', 7]);
  expect(log.records('onex.snapshot.run.state.v1')).toHaveLength(written + 1);
  await task.writePositions();
  expect(log.records('onex.snapshot.run.state.v1')).toHaveLength(written + 1);
});

test('after a crash the next owner reads the ticks after the written position again, and has the same time', async () => {
  const { log, task, idle } = await withTicks();
  await task.take(idle);
  const next = new PartitionTask(log, listening('run', { ticks: [] }), dependencies());
  await next.open(writerOn(log));
  expect(next.positions.get('run.in')).toBe(5);
  await next.take(idle);
  expect(next.clock).toEqual(task.clock);
});

test('a fenced task cannot write its positions', async () => {
  const { log, task, writer, idle } = await withTicks();
  await task.take(idle);
  await log.fence(writer.id);
  await expect(task.writePositions()).rejects.toMatchObject({ name: 'Retry' });
});

test('two batches of one topic in a transaction both have their outputs', async () => {
  const { log, task, batch } = await opened();
  const rest = { fetched: 3, next: 5, records: log.records('run.in').slice(3) };
  await Promise.all([task.take(batch()), task.take(batch(rest))]);
  expect(log.events('run.out' as never)).toHaveLength(5);
  expect(positionsIn(log)).toEqual([['@position/run.in', 5]]);
});
