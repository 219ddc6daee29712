import { expect, test } from 'vitest';
import { inbox } from './inbox.ts';
import { readModel } from './read-model.ts';
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
