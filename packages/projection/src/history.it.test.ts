import { Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { type Database, figures, projectedUpTo, readModel, saveProjected } from '@vigil/read-model';
import { dump, scratchReadModel } from '@vigil/read-model/testing';
import { Retry } from '@vigil/stream';
import { expect, test } from 'vitest';
import { tidy } from './history.ts';
import type { ProjectedTopic } from './project.ts';
import { rowsIn } from './rows.ts';

const DAY_MS = 86_400_000;
const NOW = EXAMPLE_TIME - (EXAMPLE_TIME % DAY_MS) + 43_200_000; // noon

type Placed = Parameters<ReturnType<typeof rowsIn>['apply']>[0]['events'][number];

const heartbeatAt = (agentId: string, at: number, offset: number, tokens: number): Placed => ({
  ...example(Topic.agentObservation, 'AGENT_HEARTBEAT', { agent_id: agentId, token_count: tokens }),
  ...{ key: agentId, occurredAt: at, version: null, epoch: null, eventId: `${agentId}-${offset}`, offset },
});

const changeAt = (agentId: string, at: number, offset: number, to: 'HEALTHY' | 'STUCK'): Placed => ({
  ...example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', { agentId, from: to === 'STUCK' ? 'HEALTHY' : 'STUCK', to }),
  ...{ key: agentId, occurredAt: at, epoch: 1, version: offset + 1, eventId: `change-${agentId}-${offset}`, offset },
});

/** Two agents for 33 days: one is HEALTHY, the other STUCK from the 10th to the 20th minute of each noon. */
const topics = (): Readonly<Record<string, readonly Placed[]>> => {
  const heartbeats: Placed[] = [];
  const changes: Placed[] = [];
  for (let day = 32; day >= 0; day--) {
    const noon = NOW - day * DAY_MS;
    for (const minute of [0, 10, 15, 20])
      for (const agentId of ['calm', 'stuck'])
        heartbeats.push(heartbeatAt(agentId, noon + minute * 60_000 + 1000, heartbeats.length, minute));
    changes.push(changeAt('stuck', noon + 600_000, changes.length, 'STUCK'));
    changes.push(changeAt('stuck', noon + 1_200_000, changes.length, 'HEALTHY'));
  }
  return { [Topic.agentObservation]: heartbeats, [Topic.agentHealth]: changes };
};

const UP_TO = NOW + 3_600_000;

/** Projects a topic from the stored position, in batches. `fails`: the projector is killed before this commit. */
const projected = async (database: Database, topic: string, size: number, fails: () => boolean): Promise<void> => {
  const events = topics()[topic] ?? [];
  for (;;) {
    const rows = rowsIn(database);
    let from = (await rows.open('cluster')).get(`${topic}/0`) ?? 0;
    try {
      for (; from < events.length; from = Math.min(from + size, events.length)) {
        const next = Math.min(from + size, events.length);
        const batch = { topic: topic as ProjectedTopic, partition: 0, from, next, time: UP_TO };
        const dying = fails() ? killedAtItsEnd(database) : rows;
        await dying.apply({ ...batch, events: events.slice(from, next) } as never);
      }
      return;
    } catch (error) {
      if (!(error instanceof Retry)) throw error;
    }
  }
};

/** A projector that is killed after its rows and before its commit. */
const killedAtItsEnd = (database: Database) =>
  rowsIn({
    ...database,
    transaction: (work) =>
      database.transaction(async (sql) => {
        await work(sql);
        throw new Retry('killed');
      }),
  });

const full = async (database: Database, order: readonly string[], size: number, fails = () => false): Promise<void> => {
  for (const topic of order) await projected(database, topic, size, fails);
  await saveProjected(database, 0, UP_TO);
  await tidy(database, 30, null);
};

const IN_ORDER = [Topic.agentHealth, Topic.agentObservation];

test('of 33 days the last 30 and today are kept, and minutes only of the time in which an agent was not HEALTHY', async () => {
  await using database = await scratchReadModel();
  await full(database, IN_ORDER, 50);
  const { history, heartbeat_hours: hours, heartbeat_minutes: minutes } = await dump(database);
  expect(history).toHaveLength(2 * 31);
  expect(hours).toHaveLength(2 * 31);
  const kept = minutes as readonly { agent_id: string; minute_at: string; tokens: number }[];
  expect(new Set(kept.map(({ agent_id }) => agent_id))).toEqual(new Set(['stuck']));
  // Unhealthy from the 10th minute on; from the 20th on healthy again.
  expect(kept.map(({ tokens }) => tokens).toSorted((a, b) => a - b)).toEqual([
    ...Array.from({ length: 31 }, () => 10),
    ...Array.from({ length: 31 }, () => 15),
  ]);
  expect(await readModel(database).transitions({ agentId: 'stuck', limit: 100 })).toHaveLength(2 * 31);
});

test('a later tidying deletes only minutes that are new since the last one', async () => {
  await using database = await scratchReadModel();
  await full(database, IN_ORDER, 50);
  const kept = async () => (await dump(database)).heartbeat_minutes?.length;
  const before = await kept();
  const minute = (at: number) =>
    database.query(`INSERT INTO heartbeat_minutes (agent_id, minute_at) VALUES ('calm', to_timestamp($1 / 1000.0))`, [
      at,
    ]);
  await minute(UP_TO - 3_600_000);
  await minute(UP_TO - 120_000);
  await saveProjected(database, 0, UP_TO + 60_000);
  expect(await tidy(database, 30, UP_TO)).toBe(UP_TO + 60_000);
  expect(await kept()).toBe((before ?? 0) + 1);
  await tidy(database, 30, null);
  expect(await kept()).toBe(before);
});

test('the days of history are a setting, and more days later bring no dropped day back', async () => {
  await using database = await scratchReadModel();
  await full(database, IN_ORDER, 50);
  await tidy(database, 5, null);
  const days = async () => (await dump(database)).heartbeat_hours?.length;
  expect(await days()).toBe(2 * 6);
  await tidy(database, 30, null);
  await database.query('DELETE FROM positions');
  for (const topic of IN_ORDER) await projected(database, topic, 50, () => false);
  expect(await days()).toBe(2 * 6);
});

test('killed at any point, topics read twice and partitions moved: the same rows', async () => {
  await using expected = await scratchReadModel();
  await full(expected, IN_ORDER, 1000);
  const rows = await dump(expected);

  await using killed = await scratchReadModel();
  let commits = 0;
  await full(killed, IN_ORDER, 40, () => commits++ % 3 === 1);
  expect(await dump(killed)).toEqual(rows);

  // The topics are read again from their beginning, in another order: dropped days stay dropped.
  await killed.query('DELETE FROM positions');
  await full(killed, IN_ORDER.toReversed(), 90);
  expect(await dump(killed)).toEqual(rows);

  // Two projectors write the same partition; one is always too late.
  await killed.query('DELETE FROM positions');
  await Promise.all([full(killed, IN_ORDER, 60), full(killed, IN_ORDER, 70)]);
  expect(await dump(killed)).toEqual(rows);
  expect(await projectedUpTo(killed)).toBe(UP_TO);
});

const call = (call_id: string, outcome: 'running' | 'ok', started_at: number | null, ended_at: number | null) => ({
  ...{ call_id, kind: 'tool', tool: 'Bash', args_hash: null, result_hash: null, masked_result_hash: null, outcome },
  ...{ error_class: null, started_at, ended_at, deadline_at: null, mutating: false, polling: false, target: null },
  checking: false,
});

/** Heartbeats of one agent, each with its time, instance, used context and calls. Its clock is a second behind. */
const working = (
  ...beats: readonly (readonly [at: number, instance: string, used: number | null, calls?: readonly object[]])[]
): readonly Placed[] =>
  beats.map(([at, instance_id, used, tool_calls = []], offset) => {
    const event = heartbeatAt('busy', at, offset, 0) as Placed & { readonly payload: object };
    const context = used === null ? null : { tokens_used: used, tokens_max: 100 };
    return {
      ...event,
      payload: { ...event.payload, timestamp: at - 1000, instance_id, context, tool_calls },
    } as Placed;
  });

const MIDNIGHT = NOW - (NOW % DAY_MS);

const WORK = working(
  [MIDNIGHT - 9000, 'i1', 50, [call('long', 'running', MIDNIGHT - 12_000, null)]],
  [MIDNIGHT - 5000, 'i1', 80, [call('short', 'ok', MIDNIGHT - 8000, MIDNIGHT - 7000)]],
  // From here on the day is another. Exactly a quarter less is not a compaction; more than that is one.
  [MIDNIGHT + 1000, 'i1', 55, [call('long', 'ok', null, MIDNIGHT - 500)]],
  [MIDNIGHT + 2000, 'i1', 29],
  [MIDNIGHT + 3000, 'i2', 1, [call('long', 'running', null, null)]],
  [MIDNIGHT + 4000, 'i2', null],
);

const asRows = (database: Database) =>
  readModel(database)
    .history({ agentId: 'busy' })
    .then((rows) =>
      rows.map(({ kind, id, at, endedAt, outcome, usedBefore, usedAfter }) =>
        kind === 'call' ? { id, at, endedAt, outcome } : { kind, at, usedBefore, usedAfter },
      ),
    );

const EXPECTED = [
  { id: 'i2/long', at: MIDNIGHT + 3000, endedAt: null, outcome: 'running' },
  { kind: 'compaction', at: MIDNIGHT + 2000, usedBefore: 55, usedAfter: 29 },
  { id: 'i1/short', at: MIDNIGHT - 7000, endedAt: MIDNIGHT - 6000, outcome: 'ok' },
  { id: 'i1/long', at: MIDNIGHT - 11_000, endedAt: MIDNIGHT + 500, outcome: 'ok' },
];

/** Projects the heartbeats from the stored position, `size` at a time. */
const projectedWork = async (database: Database, size: number): Promise<void> => {
  const topic = Topic.agentObservation;
  const rows = rowsIn(database);
  for (let from = (await rows.open('cluster')).get(`${topic}/0`) ?? 0; from < WORK.length; from += size) {
    const next = Math.min(from + size, WORK.length);
    await rows.apply({ topic, partition: 0, from, next, time: NOW, events: WORK.slice(from, next) } as never);
  }
};

test.each([1, 2, 6])(
  'calls and compactions are stored once, with their times on the clock of the broker: %i at a time',
  async (size) => {
    await using database = await scratchReadModel();
    await projectedWork(database, size);
    expect(await asRows(database)).toEqual(EXPECTED);
    const rows = await dump(database);
    expect(rows.calls, 'a row for each call and day, not for each heartbeat').toHaveLength(4);
    // The topic is read again from its beginning, also in other batches.
    await database.query('DELETE FROM positions');
    await projectedWork(database, 7 - size);
    expect(await dump(database)).toEqual(rows);
  },
);

test('the history of an agent is read in pages and time spans, with the figures of its states', async () => {
  await using database = await scratchReadModel();
  await projectedWork(database, 6);
  const changes = [changeAt('busy', MIDNIGHT + 1500, 0, 'STUCK')];
  const batch = { topic: Topic.agentHealth, partition: 0, from: 0, next: 1, time: NOW, events: changes };
  await rowsIn(database).apply(batch as never);
  const model = readModel(database);
  const all = await model.history({ agentId: 'busy' });
  expect(all).toHaveLength(EXPECTED.length + 1);
  expect(all.find(({ kind }) => kind === 'state')).toMatchObject({
    state: 'STUCK',
    evidence: changes[0]?.payload && 'evidence' in changes[0].payload ? changes[0].payload.evidence : [],
  });
  const paged: unknown[] = [];
  for (let last: (typeof all)[number] | undefined; ; ) {
    const after = last === undefined ? {} : { after: [-last.at, last.kind, last.id] };
    const page = await model.history({ agentId: 'busy', limit: 2, ...after });
    paged.push(...page);
    last = page.at(-1);
    if (last === undefined) break;
  }
  expect(paged).toEqual(all);
  const span = { since: MIDNIGHT, until: MIDNIGHT + 2000 };
  expect((await model.history({ agentId: 'busy', ...span })).map(({ kind }) => kind)).toEqual(['state']);
  for (const kind of ['state', 'call', 'compaction'] as const)
    expect(await model.history({ agentId: 'busy', kind })).toEqual(all.filter((one) => one.kind === kind));
  expect(await model.history({ agentId: 'another' })).toEqual([]);
});

test('the numbers of the fleet count agents by their present state, one without a changed state too', async () => {
  await using database = await scratchReadModel();
  const present = { ...example(Topic.fleetPresence, 'AGENT_PRESENT', { agentId: 'calm' }), offset: 0, occurredAt: NOW };
  const opened = { ...example(Topic.agentIntervention, 'CASE_OPENED', { caseId: 'c1' }), offset: 0, occurredAt: NOW };
  const asked = { ...example(Topic.agentIntervention, 'ESCALATION_TRIGGERED', { caseId: 'c1' }), offset: 1 };
  const batch = (topic: ProjectedTopic, events: readonly unknown[]) =>
    rowsIn(database).apply({ topic, partition: 0, from: 0, next: events.length, time: NOW, events } as never);
  await batch(Topic.agentHealth, [changeAt('stuck', NOW, 0, 'STUCK')]);
  await batch(Topic.fleetPresence, [present]);
  await batch(Topic.agentIntervention, [opened, { ...asked, occurredAt: NOW, version: 99 }]);
  expect(await figures(database)).toEqual({
    agents: [
      { state: 'HEALTHY', count: 1 },
      { state: 'STUCK', count: 1 },
    ],
    openCases: [{ waitsFor: 'person', count: 1 }],
  });
});

test('the partitions of today and tomorrow exist before their first row', async () => {
  await using database = await scratchReadModel();
  await saveProjected(database, 0, NOW);
  await tidy(database, 30, null);
  const { rows } = await database.query(
    "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'history'::regclass ORDER BY 1",
  );
  const name = (ms: number) => `history_${new Date(ms).toISOString().slice(0, 10).replaceAll('-', '')}`;
  expect(rows.map((row) => row.name)).toEqual([name(NOW), name(NOW + DAY_MS)]);
});
