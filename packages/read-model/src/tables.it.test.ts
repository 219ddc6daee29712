import { expect, test } from 'vitest';
import { isAway, OtherCluster } from './database.ts';
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
  expect(await model.history({ agentId: 'a', ...span })).toEqual([]);
  expect(await model.deadLetters({ ...span, limit: 5 })).toEqual([]);
  expect(await model.outcomes('c')).toEqual([]);
  const nothing = { count: 0, p50Ms: null, p95Ms: null, maxMs: null };
  expect(await model.targets(5)).toEqual({
    since: 5,
    detection: nothing,
    intervention: nothing,
    recovery: { part: 0, all: 0, rate: null },
    falsePositives: { part: 0, all: 0, rate: null },
    watched: 0,
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

const inPages = async <Row>(
  read: (paged: { limit: number; after?: readonly (number | string)[] }) => Promise<readonly Row[]>,
  placeOf: (row: Row) => readonly (number | string)[],
): Promise<readonly Row[]> => {
  const page = await read({ limit: 7 });
  const found = [...page];
  for (let last = page.at(-1); last !== undefined; ) {
    const next = await read({ limit: 7, after: placeOf(last) });
    found.push(...next);
    last = next.at(-1);
  }
  return found;
};

test('pages of tasks, tickets, breakers, dead letters and the story have each row once, in the order of the list', async () => {
  await using database = await scratchReadModel();
  const model = readModel(database);
  const times = 'to_timestamp(CASE WHEN n % 3 = 0 THEN 1700000000.123 ELSE 1700000000 + n / 1000.0 END)';
  const some = `CASE WHEN n % 5 > 0 THEN ${times} END`;
  for (const insert of [
    `tasks (task_id, recovery, recovery_at)
     SELECT CASE WHEN n % 2 = 0 THEN 'OMN-' ELSE 'omn ' END || n, 'RECOVERY_COMPLETED', ${some}`,
    `tickets (ticket_id, filed_at) SELECT 'ticket-' || n, ${some}`,
    `breakers (owner, name, agent_id, state, failures, breaker_since)
     SELECT 'agent-' || n % 4, 'b' || n, 'agent-' || n % 4, CASE WHEN n % 4 = 0 THEN 'CLOSED' ELSE 'OPEN' END, 1, ${times}`,
    `dead_letters (event_id, service, original_topic, original_partition, original_offset, truncated, reason, error_type,
       retry_count, left_out, failed_at) SELECT 'e' || n, 's', 't', 0, n, false, 'r', 'E', 0, 0, ${some}`,
    `journal (event_id, topic, type, occurred_at, event_order, payload) SELECT 'e' || n, 't', 'T', ${times}, 'o' || n % 2, '{}'`,
  ])
    await database.query(`INSERT INTO ${insert} FROM generate_series(1, 40) n`);
  const tasks = await inPages(
    (paged) => model.tasks(paged),
    ({ taskId }) => [taskId],
  );
  expect(tasks).toEqual(await model.tasks({}));
  const tickets = await inPages(
    (paged) => model.tickets(paged),
    ({ filedAt, ticketId }) => [-(filedAt ?? 0), ticketId],
  );
  expect(tickets).toEqual(await model.tickets({}));
  const breakers = await inPages(
    (paged) => model.breakers(paged),
    ({ state, since, agentId, name }) => [state === 'CLOSED' ? 1 : 0, -since, agentId ?? '', name],
  );
  expect(breakers).toEqual(await model.breakers({}));
  const letters = await inPages(
    (paged) => model.deadLetters(paged),
    ({ failedAt, eventId }) => [-(failedAt ?? 0), eventId],
  );
  expect(letters).toEqual(await model.deadLetters({}));
  const story = await inPages(
    ({ limit, after: [at, order, eventId] = [] }) =>
      model.storyBefore({
        limit,
        before: at === undefined ? null : { at: Number(at), order: String(order), eventId: String(eventId) },
      }),
    ({ at, order, eventId }) => [at, order, eventId],
  );
  expect(story).toEqual(await model.storyBefore({ limit: 1000, before: null }));
  expect([tasks, tickets, breakers, letters, story].map((rows) => rows.length)).toEqual([40, 40, 40, 40, 40]);
});

test('cases and alerts are selected by the host of their agent and by all given labels', async () => {
  await using database = await scratchReadModel();
  const model = readModel(database);
  await database.query(`INSERT INTO agents (agent_id, host) VALUES ('a', 'build-7'), ('b', 'build-8')`);
  for (const [table, values] of [
    ['cases (case_id, opened_order, opened_at, agent_id, labels)', "'o', now(),"],
    ['alerts (alert_id, raised_order, raised_at, agent_id, labels)', "'o', now(),"],
  ])
    await database.query(
      `INSERT INTO ${table} VALUES ('1', ${values} 'a', '{"team":"core","tier":"1"}'), ('2', ${values} 'b', '{"team":"core"}'),
       ('3', ${values} NULL, NULL)`,
    );
  const found = async (filter: { host?: string; labels?: readonly (readonly [string, string])[] }) => [
    (await model.cases(filter)).map(({ caseId }) => caseId).toSorted(),
    (await model.alerts(filter)).map(({ alertId }) => alertId).toSorted(),
  ];
  expect(await found({})).toEqual([
    ['1', '2', '3'],
    ['1', '2', '3'],
  ]);
  expect(await found({ host: 'build-7' })).toEqual([['1'], ['1']]);
  expect(await found({ host: 'build-9' })).toEqual([[], []]);
  expect(await found({ labels: [['team', 'core']] })).toEqual([
    ['1', '2'],
    ['1', '2'],
  ]);
  const both = [
    ['team', 'core'],
    ['tier', '1'],
  ] as const;
  expect(await found({ labels: both })).toEqual([['1'], ['1']]);
  expect(await found({ host: 'build-8', labels: both })).toEqual([[], []]);
});

test('each list is selected by the state, the severity, the policy, the host and the labels that its rows or their agents have', async () => {
  await using database = await scratchReadModel();
  const model = readModel(database);
  await database.query(
    `INSERT INTO agents (agent_id, host, policy_name, instance_policy_name, state_labels)
     VALUES ('a', 'build-7', 'demo', NULL, '{"team":"core"}'), ('b', 'build-8', NULL, 'vigil', '{"team":"red"}')`,
  );
  await database.query(
    `INSERT INTO cases (case_id, opened_order, opened_at, agent_id, state, policy_name) VALUES
     ('1', 'o', now(), 'a', 'STUCK', 'demo'), ('2', 'o', now(), 'b', 'FAILING', 'vigil')`,
  );
  await database.query(
    `INSERT INTO alerts (alert_id, raised_at, agent_id, severity, acknowledged_at, resolved_order) VALUES
     ('1', now(), 'a', 'critical', NULL, NULL), ('2', now(), 'b', 'warning', now(), NULL), ('3', now(), 'b', 'warning', now(), 'o')`,
  );
  await database.query(
    `INSERT INTO tickets (ticket_id, filed_at, agent_id, severity, answer, labels) VALUES
     ('1', now(), 'a', 'high', NULL, '{"team":"core"}'), ('2', now(), 'b', 'low', 'dismissed', '{"team":"red"}')`,
  );
  await database.query(
    `INSERT INTO breakers (owner, name, agent_id, state, breaker_since) VALUES
     ('a', '1', 'a', 'OPEN', now()), ('b', '2', 'b', 'CLOSED', to_timestamp(1))`,
  );
  await database.query(
    `INSERT INTO task_assignees (task_id, agent_id, state, assignee_at) VALUES ('1', 'a', 'HEALTHY', now()), ('2', 'b', 'STUCK', now())`,
  );
  const found = async <Filter>(
    list: (filter: Filter) => Promise<readonly object[]>,
    id: string,
    filters: readonly Filter[],
  ) =>
    Promise.all(
      filters.map(async (filter) => (await list(filter)).map((row) => Reflect.get(row, id) as string).join()),
    );
  const ofAgents = [{ host: 'build-7' }, { policy: 'vigil' }, { policy: 'other' }];
  expect(
    await found(model.cases, 'caseId', [{ state: 'STUCK' }, { policyName: 'vigil' }, { host: 'build-7' }]),
  ).toEqual([...['1', '2', '1']]);
  const alerts = [
    { state: 'open' },
    { state: 'acknowledged' },
    { state: 'resolved' },
    { severity: 'critical' },
  ] as const;
  expect(await found(model.alerts, 'alertId', [...alerts, ...ofAgents])).toEqual(['1', '2', '3', '1', '1', '2,3', '']);
  await database.query(`UPDATE alerts SET alert_key = 'k' WHERE alert_id IN ('2', '3')`);
  await database.query(
    `INSERT INTO tickets (ticket_id, filed_at, answered_at, answer, alert_key) VALUES ('3', now(), now() + interval '1 s', 'intervene', 'k')`,
  );
  expect(await found(model.alerts, 'alertId', alerts)).toEqual(['1,2', '', '3', '1']);
  await database.query(`DELETE FROM tickets WHERE ticket_id = '3'`);
  const labels = { labels: [['team', 'core']] } as const;
  const tickets = [{ state: 'waits' }, { state: 'dismissed' }, { severity: 'low' }] as const;
  expect(await found(model.tickets, 'ticketId', [...tickets, labels, ...ofAgents])).toEqual([
    ...['1', '2', '2', '1', '1', '2', ''],
  ]);
  const breakers = [{ state: 'CLOSED' }, { until: 2000 }] as const;
  expect(await found(model.breakers, 'name', [...breakers, labels, ...ofAgents])).toEqual([
    '2',
    '2',
    '1',
    '1',
    '2',
    '',
  ]);
  expect(await found(model.tasks, 'taskId', [{ state: 'STUCK' }, labels, ...ofAgents])).toEqual([
    '2',
    '1',
    '1',
    '2',
    '',
  ]);
});

test('pages of cases, alerts and recoveries have each row once, also of one moment and with unknown times', async () => {
  await using database = await scratchReadModel();
  const model = readModel(database);
  const times = `to_timestamp(CASE WHEN n % 3 = 0 THEN 1700000000.123 ELSE 1700000000 + n / 1000.0 END)`;
  await database.query(
    `INSERT INTO cases (case_id, opened_order, opened_at, step) SELECT 'case-' || n, 'o' || n, ${times},
       CASE WHEN n % 4 = 0 THEN 'ESCALATION_TRIGGERED' END FROM generate_series(1, 40) n`,
  );
  await database.query(
    `INSERT INTO alerts (alert_id, resolved_at, raised_at) SELECT 'alert-' || n, CASE WHEN n % 4 = 0 THEN now() END,
       CASE WHEN n % 5 > 0 THEN ${times} END FROM generate_series(1, 40) n`,
  );
  const cases = await inPages(
    (paged) => model.cases(paged),
    ({ waiting, openedAt, caseId }) => [waiting ? 0 : 1, -openedAt, caseId],
  );
  expect(cases).toHaveLength(40);
  expect(cases).toEqual(await model.cases({}));
  await database.query(
    `UPDATE cases SET labels = '{"team": "core", "tier": "1"}' WHERE case_id IN ('case-1', 'case-2')`,
  );
  const team = ['team', 'core'] as const;
  expect(await model.cases({ labels: [team, ['tier', '1']] })).toHaveLength(2);
  expect(await model.cases({ labels: [team, ['tier', '2']] })).toEqual([]);
  const alerts = await inPages(
    (paged) => model.alerts(paged),
    ({ resolvedAt, raisedAt, alertId }) => [resolvedAt === null ? 0 : 1, -(raisedAt ?? 0), alertId],
  );
  expect(alerts).toHaveLength(40);
  expect(alerts).toEqual(await model.alerts({}));
  expect(await model.recoveries({ after: [-1, 't', -1, 'a'], limit: 5 })).toEqual([]);
});

test('a connection that Postgres ends within a transaction fails the transaction, and not the process', async () => {
  await using database = await scratchReadModel();
  const ended = database.transaction(async (sql) => {
    const { rows } = await sql.query('SELECT pg_backend_pid() AS pid');
    await database.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
    // The end arrives while no query waits for an answer.
    await expect.poll(() => sql.query('SELECT 1').then(() => null, isAway)).toBe(true);
    await sql.query('SELECT 1');
  });
  await expect(ended).rejects.toSatisfy(isAway);
});
