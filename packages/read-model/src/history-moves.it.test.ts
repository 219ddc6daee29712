import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import { expect, test } from 'vitest';
import { migrate } from './migrate.ts';
import { scratchDatabase } from './testing.ts';

const HEALTH = 'onex.evt.health-evaluator.agent-health.v1';
const CASES = 'onex.evt.intervention.agent-intervention.v1';
const NEWEST = Date.parse('2026-11-27T12:00:00Z');
const DAY_MS = 86_400_000;

/** The tables before the history had days. */
const BEFORE = 14;

test('a migrated read model keeps 30 days of history, and all cases', async () => {
  await using database = await scratchDatabase();
  const dir = fileURLToPath(new URL('../migrations', import.meta.url));
  const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  await runner({
    databaseUrl: database.url,
    dir,
    direction: 'up',
    count: BEFORE,
    migrationsTable: 'migrations',
    logger,
  });
  const lines = [
    ['today', HEALTH, 'HEALTH_STATE_CHANGED', 0],
    ['first-kept', HEALTH, 'HEALTH_STATE_CHANGED', 30],
    ['dropped', HEALTH, 'HEALTH_STATE_CHANGED', 31],
    ['old-case', CASES, 'CASE_OPENED', 300],
  ] as const;
  for (const [id, topic, type, days] of lines)
    await database.query(
      `INSERT INTO journal (event_id, topic, type, agent_id, occurred_at, event_order, payload)
       VALUES ($1, $2, $3, 'a', to_timestamp($4::double precision / 1000), $1, '{}')`,
      [id, topic, type, NEWEST - days * DAY_MS],
    );
  await migrate(database.url);
  const ids = async (table: string) =>
    (await database.query(`SELECT event_id FROM ${table} ORDER BY event_id`)).rows.map((row) => row.event_id);
  expect(await ids('history')).toEqual(['first-kept', 'today']);
  expect(await ids('journal')).toEqual(['old-case']);
  expect(await ids('story')).toEqual(['first-kept', 'old-case', 'today']);
  expect((await database.query('SELECT first_day FROM history_days')).rows).toEqual([{ first_day: '2026-10-28' }]);
});
