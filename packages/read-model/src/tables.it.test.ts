import { expect, test } from 'vitest';
import { OtherCluster } from './database.ts';
import { tables } from './generated/tables.ts';
import { migrate } from './migrate.ts';
import { claimCluster, positions, savePosition } from './positions.ts';
import { readModel } from './read-model.ts';
import { scratchReadModel } from './testing.ts';

const columnsIn = async (database: Awaited<ReturnType<typeof scratchReadModel>>, table: string) => {
  const { rows } = await database.query(
    'SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = $1',
    [table],
  );
  return rows.map(({ column_name }) => String(column_name)).sort();
};

test('the table definitions in TypeScript name every column of the SQL tables', async () => {
  await using database = await scratchReadModel();
  for (const [table, { key, groups }] of Object.entries(tables)) {
    const orders = Object.keys(groups).flatMap((group) => (group === '' ? [] : [`${group}_order`]));
    const columns = [key, ...Object.values(groups)].flatMap((one) => Object.keys(one));
    expect(await columnsIn(database, table)).toEqual([...orders, ...columns].sort());
  }
});

test('migrating a migrated database applies nothing', async () => {
  await using database = await scratchReadModel();
  const applied: string[] = [];
  await migrate(database.url, (name) => applied.push(name));
  expect(applied).toEqual([]);
});

test('every query can be sent to an empty read model', async () => {
  await using database = await scratchReadModel();
  const model = readModel(database);
  expect(await model.agents({ unhealthy: true, state: 'STUCK', taskId: 't', agentId: 'a' })).toEqual([]);
  expect(await model.cases({ open: true, agentId: 'a', caseId: 'c' })).toEqual([]);
  expect(await model.case('c')).toBeNull();
  expect(await model.tasks({ review: true, taskId: 't' })).toEqual([]);
  expect(await model.story({ agentId: 'a', taskId: 't', limit: 5 })).toEqual([]);
  expect(await model.fleet()).toMatchObject({ halted: false, braked: false, dryRun: false, brakeAgents: [] });
  expect(await model.deadLetters({ service: 's', limit: 5 })).toEqual([]);
  expect(await model.policies()).toEqual([]);
  expect(await model.breakers({ agentId: 'a', taskId: 't', open: true, tripsSince: 5 })).toEqual([]);
  expect(await model.tickets({ agentId: 'a', ticketId: 'k', limit: 5 })).toEqual([]);
  expect(await model.policyRefusals()).toEqual([]);
  expect(await model.runtimes()).toEqual([]);
  expect(await model.cells()).toEqual([]);
  const span = { since: 1, until: 2 };
  expect(await model.cases({ taskId: 't', policyName: 'p', ...span })).toEqual([]);
  expect(await model.alerts(span)).toEqual([]);
  expect(await model.recoveries(span)).toEqual([]);
  expect(await model.story({ ...span, limit: 5 })).toEqual([]);
  expect(await model.deadLetters({ ...span, limit: 5 })).toEqual([]);
  expect(await model.outcomes('c')).toEqual([]);
  const nothing = { count: 0, p50Ms: null, p95Ms: null, maxMs: null };
  expect(await model.targets(5)).toEqual({
    since: 5,
    detection: nothing,
    intervention: nothing,
    recovery: { part: 0, all: 0, rate: null },
    falsePositives: { part: 0, all: 0, rate: null },
  });
});

test('a read model belongs to one Kafka cluster and refuses another, with the remedy', async () => {
  await using database = await scratchReadModel();
  await claimCluster(database, 'cluster-a');
  await claimCluster(database, 'cluster-a');
  await expect(claimCluster(database, 'cluster-b')).rejects.toThrow(OtherCluster);
  await expect(claimCluster(database, 'cluster-b')).rejects.toThrow(/cluster-a.*cluster-b.*empty database/s);
});

test('a position moves only from the offset that its writer expects', async () => {
  await using database = await scratchReadModel();
  const at = { topic: 't', partition: 0 };
  expect(await savePosition(database, { ...at, from: 3, next: 7 })).toBe(true);
  expect(await savePosition(database, { ...at, from: 3, next: 9 })).toBe(false);
  expect(await savePosition(database, { ...at, from: 7, next: 8 })).toBe(true);
  expect(await positions(database)).toEqual([{ ...at, offset: 8 }]);
});
