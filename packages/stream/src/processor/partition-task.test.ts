import { expect, test } from 'vitest';
import type { Batch } from '../log/log.ts';
import { dependencies, jsonCodec, listening, topicsOf } from '../runner/processors.fixture.ts';
import { MemoryLog } from '../testing/memory/memory-log.ts';
import { PartitionTask } from './partition-task.ts';

const opened = async () => {
  const log = new MemoryLog({ topics: topicsOf('run', 1), codec: jsonCodec(), now: () => 1_795_305_600_000 });
  for (let i = 0; i < 5; i++)
    log.publishRaw('run.in', 'a', Buffer.from(JSON.stringify({ type: 'HEARTBEAT', payload: {} })));
  const task = new PartitionTask(log, listening('run'), dependencies());
  await task.open();
  const batch = (rest: Partial<Batch> = {}): Batch => ({
    topic: 'run.in',
    partition: 0,
    fetched: 0,
    next: 3,
    end: 5,
    records: log.records('run.in').slice(0, 3),
    ...rest,
  });
  return { log, task, batch };
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
  expect(log.records('onex.snapshot.run.state.v1').map(({ key }) => key)).toEqual(['a', '@position/run.in', '@rules']);
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
  await expect(new PartitionTask(other, listening('run'), dependencies()).open()).rejects.toMatchObject({
    name: 'Refused',
    message: expect.stringContaining('run.other has 2 partitions and had 1'),
  });
  await expect(new PartitionTask(log, listening('run'), dependencies({ partition: 1 })).open()).rejects.toMatchObject({
    name: 'Refused',
  });
});

test('a lost task accepts no batch, also if it is lost while it opens', async () => {
  const { log, task, batch } = await opened();
  task.lose();
  await expect(task.take(batch())).rejects.toMatchObject({ name: 'Retry' });
  const opening = new PartitionTask(log, listening('run'), dependencies());
  const open = opening.open();
  opening.lose();
  await expect(open).rejects.toMatchObject({ name: 'Retry' });
});
