import type { Sql } from './apply.ts';
import type { Database } from './database.ts';
import { DAILY, type DailyTable, isDaily, type Statement } from './statement.ts';

const TABLES = Object.keys(DAILY) as readonly DailyTable[];
const DAY_MS = 86_400_000;
/** Writers share it; who makes or drops partitions has it alone. Any number that nothing else uses. */
const LOCK = 7_430_014;

/** A day in UTC as `2026-11-27`. */
const dayAt = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

const dayOf = (statement: Statement): string | null => {
  const at = statement.key[DAILY[statement.table as DailyTable]];
  return typeof at === 'string' ? at.slice(0, 10) : null;
};

const partitionOf = (table: DailyTable, day: string): string => `${table}_${day.replaceAll('-', '')}`;

/** Runs statements while no other connection writes daily rows, or makes or drops their partitions. */
const alone = (database: Database, work: (sql: Sql) => Promise<void>): Promise<void> =>
  database.transaction(async (sql) => {
    await sql.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    await work(sql);
  });

const make = async (sql: Sql, table: DailyTable, day: string): Promise<void> => {
  const after = dayAt(Date.parse(day) + DAY_MS);
  await sql.query(
    `CREATE TABLE IF NOT EXISTS ${partitionOf(table, day)} PARTITION OF ${table}
     FOR VALUES FROM ('${day}T00:00:00Z') TO ('${after}T00:00:00Z')`,
  );
};

/** The first day that is kept; null: nothing has been dropped. */
const firstDay = async (sql: Sql): Promise<string | null> => {
  const { rows } = await sql.query('SELECT first_day FROM history_days');
  return (rows[0]?.first_day as string | undefined) ?? null;
};

/** The days whose partitions exist in all tables, as far as this process has seen. One for each database. */
export type Days = { readonly known: Set<string> };

export const createDays = (): Days => ({ known: new Set() });

/**
 * Makes the partitions of the days of these rows in all tables, before the transaction that writes them. A day that has
 * been dropped needs none.
 */
export const prepareDays = async (database: Database, days: Days, statements: readonly Statement[]): Promise<void> => {
  const needed = new Set<string>();
  for (const one of statements) {
    const day = isDaily(one) ? dayOf(one) : null;
    if (day !== null && !days.known.has(day)) needed.add(day);
  }
  if (needed.size === 0) return;
  await alone(database, async (sql) => {
    const first = await firstDay(sql);
    for (const day of needed)
      if (first === null || day >= first) for (const table of TABLES) await make(sql, table, day);
  });
  for (const day of needed) days.known.add(day);
};

/** The rows that are kept, within the transaction that writes them: no partition is dropped before its end. */
export const keptRows = async (sql: Sql, statements: readonly Statement[]): Promise<readonly Statement[]> => {
  if (!statements.some(isDaily)) return statements;
  await sql.query('SELECT pg_advisory_xact_lock_shared($1)', [LOCK]);
  const first = await firstDay(sql);
  if (first === null) return statements;
  return statements.filter((one) => !isDaily(one) || (dayOf(one) ?? first) >= first);
};

/**
 * Drops the partitions of days before `first`, and remembers it, so that their rows are not written again. Days never
 * come back: an earlier `first` than the stored one changes nothing.
 */
export const dropDaysBefore = (database: Database, first: string): Promise<void> =>
  alone(database, async (sql) => {
    await sql.query(
      `INSERT INTO history_days (first_day) VALUES ($1)
       ON CONFLICT (one) DO UPDATE SET first_day = EXCLUDED.first_day WHERE history_days.first_day < EXCLUDED.first_day`,
      [first],
    );
    for (const table of TABLES) {
      const { rows } = await sql.query(
        'SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = $1::regclass',
        [table],
      );
      const names = rows.map(({ name }) => String(name));
      for (const name of names) if (name < partitionOf(table, first)) await sql.query(`DROP TABLE ${name}`);
    }
  });

/**
 * Makes the partitions of the day of `upTo` and of the next day, and drops those that are more than `days` older.
 * `upTo`: the time up to which the rows are complete, epoch milliseconds.
 */
export const keepDays = async (database: Database, upTo: number, days: number): Promise<void> => {
  await alone(database, async (sql) => {
    for (const table of TABLES) for (const at of [upTo, upTo + DAY_MS]) await make(sql, table, dayAt(at));
  });
  await dropDaysBefore(database, dayAt(upTo - days * DAY_MS));
};

/** Later changes of state may still be on their way, milliseconds. */
const SETTLED_MS = 120_000;
const IN_SPAN =
  'm.minute_at >= to_timestamp($1::double precision / 1000) AND m.minute_at < to_timestamp($2::double precision / 1000)';

/** `upTo`: as above. `since`: the `upTo` of the last deletion; null: all minutes. */
export type Minutes = { readonly since: number | null; readonly upTo: number };

/**
 * Deletes the minutes in which an agent was HEALTHY from their beginning to their end. The result depends on the history
 * only, so a repeated deletion, or one of all minutes after a replay, gives the same rows.
 */
export const deleteHealthyMinutes = async (sql: Sql, { since, upTo }: Minutes): Promise<void> => {
  const span = [since === null ? 0 : since - SETTLED_MS, upTo - SETTLED_MS];
  // Nearly all agents are HEALTHY since before the minute. They need no look at the history.
  await sql.query(
    `DELETE FROM heartbeat_minutes m USING agents a
     WHERE ${IN_SPAN} AND a.agent_id = m.agent_id AND a.state = 'HEALTHY' AND a.state_since <= m.minute_at`,
    span,
  );
  await sql.query(
    `DELETE FROM heartbeat_minutes m
     WHERE ${IN_SPAN}
       AND coalesce(
         (SELECT t.state_to FROM transitions t WHERE t.agent_id = m.agent_id AND t.occurred_at <= m.minute_at
          ORDER BY t.event_order DESC LIMIT 1),
         (SELECT t.state_from FROM transitions t WHERE t.agent_id = m.agent_id AND t.occurred_at > m.minute_at
          ORDER BY t.event_order LIMIT 1),
         (SELECT a.state FROM agents a WHERE a.agent_id = m.agent_id),
         'HEALTHY') = 'HEALTHY'
       AND NOT EXISTS (
         SELECT FROM transitions t WHERE t.agent_id = m.agent_id AND t.state_to <> 'HEALTHY'
           AND t.occurred_at >= m.minute_at AND t.occurred_at < m.minute_at + interval '1 minute')`,
    span,
  );
};
