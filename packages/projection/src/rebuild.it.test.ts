import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { type Database, readModel } from '@vigil/read-model';
import { dump, scratchDatabase, scratchReadModel } from '@vigil/read-model/testing';
import { runProjection, silentLogger, writer } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { quiet } from '@vigil/stream/testing';
import { expect, test, vi } from 'vitest';
import { reads } from './project.ts';
import { OlderLog, planRebuild, rebuild } from './rebuild.ts';
import { rowsIn } from './rows.ts';

const LIMIT = { timeout: 60_000, interval: 20 };
const NOW = Date.parse('2026-11-27T12:00:00Z');

const projecting = (log: MemoryLog, database: Database) =>
  runProjection(log, {
    group: 'projector',
    service: 'projector',
    reads,
    onTime: () => {},
    ...quiet,
    ...rowsIn(database),
  });

/** Rebuilds. Before the first look at the positions, and before each further one, `meanwhile` runs. */
const rebuilding = (log: MemoryLog, url: string, meanwhile: () => Promise<void> = async () => {}) =>
  rebuild(log, url, {
    logger: silentLogger,
    historyDays: 30,
    onProgress: () => {},
    wait: async () => {
      await meanwhile();
      await new Promise((resolve) => setTimeout(resolve, 20));
    },
  });

/** Some events of several topics, projected. */
const filled = async () => {
  const database = await scratchReadModel();
  const log = new MemoryLog({ partitions: 2, now: () => NOW });
  const running = await projecting(log, database);
  const changed = (agentId: string) => ({
    ...example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', { agentId }),
    key: agentId,
  });
  const events = [changed('a'), changed('b'), changed('c'), example(Topic.agentIntervention, 'CASE_OPENED')];
  await writer(log, () => NOW).write([...events, example(Topic.alert, 'ALERT_RAISED')]);
  const model = readModel(database);
  await vi.waitFor(async () => expect(await model.agents({})).toHaveLength(3), LIMIT);
  await vi.waitFor(
    async () => expect([...(await model.cases({})), ...(await model.alerts({}))]).toHaveLength(2),
    LIMIT,
  );
  const close = async () => {
    await running[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  };
  return { database, log, model, changed, [Symbol.asyncDispose]: close };
};

test('the rows are rebuilt beside the present ones and then switched: the same rows, and the projector continues', async () => {
  await using one = await filled();
  const { database, log, model, changed } = one;
  const rows = await dump(database);
  await database.query("UPDATE agents SET state = 'FAILING'");
  await rebuilding(log, database.url, async () => {
    expect(await model.agent('a')).toMatchObject({ state: 'FAILING' });
  });
  expect(await dump(database)).toEqual(rows);
  const { rows: before } = await database.query('SELECT DISTINCT state FROM vigil_before.agents');
  expect(before).toEqual([{ state: 'FAILING' }]);
  await writer(log, () => NOW).write([changed('d')]);
  await vi.waitFor(async () => expect(await model.agent('d')).toMatchObject({ state: 'STUCK' }), LIMIT);
});

/** A heartbeat of `busy`, minutes after the first, with its used context and its one call. */
const working = (minutes: number, tokens_used: number, outcome: 'running' | 'ok') => {
  const at = NOW + minutes * 60_000;
  const call = {
    ...{ call_id: 'c', kind: 'tool', tool: 'Bash', args_hash: null, result_hash: null, masked_result_hash: null },
    ...{ outcome, error_class: null, started_at: NOW, ended_at: outcome === 'ok' ? at : null, deadline_at: null },
    ...{ mutating: false, polling: false, target: null, checking: false },
  };
  const context = { tokens_used, tokens_max: 100 };
  const about = { agent_id: 'busy', instance_id: 'i1', timestamp: at, context, tool_calls: [call] };
  const { payload, ...event } = example(Topic.agentObservation, 'AGENT_HEARTBEAT');
  return { ...event, key: 'busy', payload: { ...payload, ...about } };
};

test('a rebuild finds the same calls and compactions, and the same states of history', async () => {
  await using one = await filled();
  const { database, log, model, changed } = one;
  const events = [working(0, 80, 'running'), working(1, 90, 'running'), working(2, 20, 'ok'), changed('busy')];
  for (const event of events) await writer(log, () => NOW).write([event as never]);
  const history = async () => (await model.history({ agentId: 'busy' })).map(({ kind }) => kind).toSorted();
  await vi.waitFor(async () => expect(await history()).toEqual(['call', 'compaction', 'state']), LIMIT);
  const rows = await dump(database);
  await rebuilding(log, database.url);
  expect(await dump(database)).toEqual(rows);
  expect(await history()).toEqual(['call', 'compaction', 'state']);
});

test('a rebuild that is interrupted changes nothing, and the next one begins again', async () => {
  await using one = await filled();
  const { database } = one;
  const stableEnds = async (topic: string) => (topic === 'another' ? [5] : one.log.stableEnds(topic));
  const log: MemoryLog = Object.assign(Object.create(one.log), { stableEnds });
  const rows = await dump(database);
  // A partition that the topics do not have is never complete.
  await database.query("INSERT INTO positions VALUES ('another', 0, 5)");
  const stop = async () => {
    throw new Error('interrupted');
  };
  await expect(rebuilding(log, database.url, stop)).rejects.toThrow('interrupted');
  expect(await dump(database)).toEqual(rows);
  await database.query("DELETE FROM positions WHERE topic = 'another'");
  await rebuilding(log, database.url);
  expect(await dump(database)).toEqual(rows);
});

test('a database without tables, and rows of another cluster, are refused with the remedy', async () => {
  await using empty = await scratchDatabase();
  const log = new MemoryLog({ partitions: 2, now: () => NOW });
  await expect(planRebuild(log, empty.url)).rejects.toThrow('no read model: correct DATABASE_URL, or start Vigil');
  await expect(rebuilding(log, empty.url)).rejects.toThrow('no read model');
  await using one = await filled();
  expect(await planRebuild(one.log, one.database.url)).toEqual({ partitions: expect.any(Number) });
  await one.database.query("UPDATE cluster SET cluster_id = 'another'");
  await expect(planRebuild(one.log, one.database.url)).rejects.toThrow('built from Kafka cluster another');
  await expect(rebuilding(one.log, one.database.url)).rejects.toThrow('built from Kafka cluster another');
});

test('a log that ends before the rows is refused with both offsets, and the rows stay', async () => {
  await using on = await filled();
  const older = new MemoryLog({ partitions: 2, now: () => NOW });
  const before = await on.model.agents({});
  await expect(planRebuild(older, on.database.url)).rejects.toThrow(OlderLog);
  await expect(rebuilding(older, on.database.url)).rejects.toThrow(/up to offset [1-9]\d*, and this log ends at 0:/);
  expect(await on.model.agents({})).toEqual(before);
});
