import { expect, test } from 'vitest';
import { apply, type Sql } from './apply.ts';
import type { Database } from './database.ts';
import type { Register } from './statement.ts';
import { scratchReadModel } from './testing.ts';

const of = (agent_id: string, group: 'hold' | 'output' | 'duplicate'): Register => {
  const columns = {
    hold: { held: true, held_until: null, held_by: 'ada', held_why: 'why' },
    output: { output_last_at: null, output_tail: ['the end'] },
    duplicate: { duplicate_instance_id: 'i', duplicate_other_id: 'j', duplicate_count: 1, duplicate_at: null },
  };
  return {
    kind: 'register',
    table: 'agents',
    key: { agent_id },
    group,
    order: '1',
    columns: columns[group],
  } as Register;
};

/**
 * Resolves when a writer waits for a row that another transaction of this database holds, or when `over` returns true.
 */
const isBlocked = async (database: Database, over: () => boolean): Promise<void> => {
  for (;;) {
    const { rows } = await database.query(
      "SELECT count(*) AS waiting FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    if (Number(rows[0]?.waiting) > 0 || over()) return;
  }
};

/** One writer writes two groups. Before it has finished, another begins to write a third group of the same agents. */
const atOnce = async (database: Database): Promise<void> => {
  let second: Promise<void> | undefined;
  let isOver = false;
  const begin = (): Promise<void> => {
    const writing = database.transaction((sql) => apply(sql, [of('b', 'output'), of('c', 'output')]));
    return writing.finally(() => {
      isOver = true;
    });
  };
  const slowly = (sql: Sql): Sql => ({
    query: async (text, values) => {
      const result = await sql.query(text, values);
      second ??= begin();
      second.catch(() => {});
      await isBlocked(database, () => isOver);
      return result;
    },
  });
  const first = database.transaction((sql) => apply(slowly(sql), [of('c', 'duplicate'), of('b', 'hold')]));
  await Promise.all([first, first.then(() => second)]);
};

test('two writers of several groups of the same rows lock them in the same order, whether the rows exist or not', async () => {
  await using database = await scratchReadModel();
  await atOnce(database);
  await atOnce(database);
  const { rows } = await database.query(
    'SELECT agent_id, held, duplicate_count, output_tail FROM agents ORDER BY agent_id',
  );
  expect(rows).toEqual([
    { agent_id: 'b', held: true, duplicate_count: null, output_tail: ['the end'] },
    { agent_id: 'c', held: null, duplicate_count: 1, output_tail: ['the end'] },
  ]);
});
