import { expect, test } from 'vitest';
import { inbox } from './inbox.ts';
import { readModel } from './read-model.ts';
import { taskReason, waitsForPerson } from './standing.ts';
import { scratchReadModel } from './testing.ts';

test('a ticket that waits is in the inbox, however many newer ones have been answered', async () => {
  await using database = await scratchReadModel();
  await database.query(`
    INSERT INTO alerts (alert_id, alert_key, raised_at, acknowledged_at)
    VALUES ('open', 'open', now(), NULL), ('seen', 'seen', now(), now())`);
  await database.query(`
    INSERT INTO tickets (ticket_id, filed_at, answer, alert_key, analysis)
    SELECT 'newer-' || i, now(), CASE i % 3 WHEN 0 THEN 'dismissed' ELSE 'intervene' END,
           CASE i % 3 WHEN 1 THEN 'seen' ELSE 'over' END, ''
    FROM generate_series(1, 1200) AS i`);
  await database.query(`
    INSERT INTO tickets (ticket_id, filed_at, answered_at, answer, alert_key, analysis)
    VALUES ('old', now() - interval '1 day', now() - interval '1 day', 'intervene', 'open', 'a loop'),
           ('after-seen', now() - interval '2 days', now() + interval '1 minute', 'intervene', 'seen', 'worse')`);
  const model = readModel(database);
  expect((await inbox(model)).map(({ id }) => id).toSorted()).toEqual(['ticket/after-seen', 'ticket/old']);
  expect((await model.tickets({ waiting: true })).map(({ ticketId }) => ticketId)).toEqual(['old', 'after-seen']);
  expect(await model.tickets({ limit: 5 })).toHaveLength(5);
  expect((await model.alerts({})).map(({ alertId, waitsAgain }) => [alertId, waitsAgain]).toSorted()).toEqual([
    ...[
      ['open', false],
      ['seen', true],
    ],
  ]);
});

test('each task that waits for a person in the inbox is one that the list of such tasks has, with its reason', async () => {
  await using database = await scratchReadModel();
  await database.query(`
    INSERT INTO tasks (task_id, recovery, recovery_reason) VALUES ('in-review', 'REVIEW_REQUIRED', '3 of 3 attempts used'),
      ('both', 'REVIEW_REQUIRED', 'a retry failed'), ('recovered', 'RECOVERY_COMPLETED', NULL), ('stalled', NULL, NULL)`);
  await database.query(`
    INSERT INTO alerts (alert_id, alert_key, route, task_id, agent_id, text, raised_at, acknowledged_at, resolved_order)
    VALUES ('a-1', 'task_blocked:stalled', 'task_blocked', 'stalled', 'w1', 'no way on', now(), NULL, NULL),
           ('a-2', 'task_blocked:both', 'task_blocked', 'both', 'w2', 'no key', now(), NULL, NULL),
           ('a-3', 'task_blocked:w3', 'task_blocked', NULL, 'w3', NULL, now(), NULL, NULL),
           ('a-4', 'task_blocked:seen', 'task_blocked', 'seen', 'w4', 'seen', now(), now(), NULL),
           ('a-5', 'task_blocked:recovered', 'task_blocked', 'recovered', 'w5', 'over', now(), NULL, '7'),
           ('a-6', 'stuck_agent:other', 'stuck_agent', 'other', 'w6', 'stuck', now(), NULL, NULL)`);
  const model = readModel(database);
  const waiting = await model.tasks({ review: true });
  expect(waiting.map((task) => [task.taskId, taskReason(task), task.blockedAlertId])).toEqual([
    ['both', 'a retry failed; BLOCKED: no key', 'a-2'],
    ['in-review', '3 of 3 attempts used', null],
    ['stalled', 'BLOCKED: no way on', 'a-1'],
    ['w3', 'BLOCKED: no reason is reported', 'a-3'],
  ]);
  expect(waiting.every(waitsForPerson)).toBe(true);
  expect((await inbox(model)).map(({ id }) => id).toSorted()).toEqual(waiting.map(({ taskId }) => `task/${taskId}`));
  expect((await model.tasks({})).map(({ taskId }) => taskId)).toEqual([
    ...['both', 'in-review', 'recovered', 'seen', 'stalled', 'w3'],
  ]);
  expect(await model.tasks({ taskId: 'seen' })).toMatchObject([{ blockedReason: 'seen', blockedAlertId: null }]);
  // A block has a time of its own.
  expect((await model.tasks({ since: 1 })).map(({ taskId }) => taskId)).toEqual(['both', 'seen', 'stalled', 'w3']);
  expect(await model.tasks({ until: 1 })).toEqual([]);
});

test('each request that waits is in the inbox, however many wait', async () => {
  await using database = await scratchReadModel();
  await database.query(`
    INSERT INTO requests (request_id, agent_id, client, kind, text, opened_order, opened_at, deadline_at, at_deadline)
    SELECT 'r-' || i, 'a-' || i, 'claude-code', 'permission', 'Bash', '1', now(), now() + i * interval '1 second', 'no_decision'
    FROM generate_series(1, 1200) AS i`);
  const items = await inbox(readModel(database));
  expect(items).toHaveLength(1200);
  expect(items.at(-1)?.id).toBe('request/r-1200');
});

test('of each agent the newest request counts, and only where its deadline has passed', async () => {
  await using database = await scratchReadModel();
  await database.query(`
    INSERT INTO requests (request_id, agent_id, client, kind, text, opened_order, opened_at, deadline_at, at_deadline, settled, settled_order)
    VALUES ('r-1', 'w1', 'codex', 'permission', 'Bash: old', '1', now() - interval '1 hour', now(), 'no_decision', 'expired', '2'),
           ('r-2', 'w1', 'codex', 'permission', 'Bash: new', '3', now(), now(), 'no_decision', 'expired', '4'),
           ('r-3', 'w2', 'codex', 'permission', 'Bash: old', '1', now() - interval '1 hour', now(), 'no_decision', 'expired', '2'),
           ('r-4', 'w2', 'codex', 'permission', 'Bash: new', '3', now(), now(), 'no_decision', 'answered', '4'),
           ('r-5', 'w3', 'codex', 'permission', 'Bash: other', '3', now(), now(), 'no_decision', 'expired', '4')`);
  const found = await readModel(database).expiredRequests(['w1', 'w2']);
  expect(found.map(({ requestId }) => requestId)).toEqual(['r-2']);
});
