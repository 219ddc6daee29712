import { Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { OtherCluster, openDatabase, readModel } from '@vigil/read-model';
import { scratchReadModel } from '@vigil/read-model/testing';
import { DeadLetter, Retry, runProjection, writer } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { quiet } from '@vigil/stream/testing';
import { expect, test, vi } from 'vitest';
import { reads } from './project.ts';
import { rowsIn } from './rows.ts';

const changed = { ...example(Topic.agentHealth, 'HEALTH_STATE_CHANGED'), offset: 5 };
const batch = { topic: Topic.agentHealth, partition: 0, from: 5, next: 8, time: EXAMPLE_TIME, events: [changed] };

test('rows and position are written together, and reading continues from the position', async () => {
  await using database = await scratchReadModel();
  const rows = rowsIn(database);
  expect(await rows.open('cluster')).toEqual(new Map());
  await rows.apply(batch);
  expect(await rows.open('cluster')).toEqual(new Map([[`${Topic.agentHealth}/0`, 8]]));
  expect(await readModel(database).transitions({ limit: 9 })).toMatchObject([{ occurredAt: EXAMPLE_TIME }]);
});

test('a batch from another offset than the position writes nothing', async () => {
  await using database = await scratchReadModel();
  const rows = rowsIn(database);
  await rows.apply({ ...batch, events: [] });
  await expect(rows.apply(batch)).rejects.toThrow(Retry);
  expect(await readModel(database).agents({})).toEqual([]);
});

test('values that Postgres rejects make a dead letter, and do not move the position', async () => {
  await using database = await scratchReadModel();
  const rows = rowsIn(database);
  const broken = { ...changed, eventId: null as never };
  await expect(rows.apply({ ...batch, events: [changed, broken] })).rejects.toThrow(DeadLetter);
  expect(await rows.open('cluster')).toEqual(new Map());
  expect(await readModel(database).agents({})).toEqual([]);
});

test('a read model of another cluster is refused', async () => {
  await using database = await scratchReadModel();
  await rowsIn(database).open('cluster');
  await expect(rowsIn(database).open('another')).rejects.toThrow(OtherCluster);
});

test('only one of two projectors that apply the same batch at once succeeds', async () => {
  await using database = await scratchReadModel();
  await using second = await openDatabase(database.url, () => {}, 0);
  await rowsIn(database).apply({ ...batch, from: 0, next: 5, events: [] });
  const sinks = [rowsIn(database), rowsIn(second), rowsIn(database), rowsIn(second)];
  const ends = await Promise.allSettled(sinks.map((rows) => rows.apply(batch)));
  expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(await readModel(database).transitions({ limit: 9 })).toHaveLength(1);
});

test('records of the log become rows', async () => {
  await using database = await scratchReadModel();
  await using log = new MemoryLog();
  await writer(log, Date.now).write([changed, example(Topic.alert, 'ALERT_RAISED')]);
  await using _running = await runProjection(log, {
    group: 'projector',
    service: 'projector',
    reads,
    onTime: () => {},
    ...quiet,
    ...rowsIn(database),
  });
  const model = readModel(database);
  const limit = { timeout: 60_000, interval: 50 };
  await vi.waitFor(async () => expect(await model.alerts({})).toHaveLength(1), limit);
  await vi.waitFor(async () => expect(await model.agent('worker-1')).toMatchObject({ state: 'STUCK' }), limit);
});
