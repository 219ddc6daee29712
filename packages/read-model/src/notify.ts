import { clean, type Sql } from './apply.ts';
import type { Statement } from './statement.ts';

/** The channel of the ids of changed rows, as JSON `[[table, id], …]`, at the end of each transaction. */
export const CHANGES = 'vigil_changes';
const LARGEST_NOTICE = 7_000; // Postgres: under 8000 bytes

const pairOf = (statement: Statement): string =>
  JSON.stringify([statement.table, clean(String(Object.values(statement.key)[0]))]);

/** What changed, in as many notices as it takes: readers fetch the rows again. */
export function notices(statements: readonly Statement[]): readonly string[] {
  const pairs = statements.filter((s) => s.table !== 'journal').map(pairOf);
  const texts: string[] = [];
  let ids: string[] = [];
  let size = 0;
  for (const pair of new Set(pairs)) {
    const bytes = Buffer.byteLength(pair) + 1;
    if (size + bytes > LARGEST_NOTICE) {
      texts.push(`[${ids.join(',')}]`);
      ids = [];
      size = 0;
    }
    ids.push(pair);
    size += bytes;
  }
  return ids.length === 0 ? texts : [...texts, `[${ids.join(',')}]`];
}

/** Notifies listeners (LISTEN vigil_changes) of the changes, when the caller's transaction commits. */
export async function notify(sql: Sql, statements: readonly Statement[]): Promise<void> {
  for (const text of notices(statements)) await sql.query('SELECT pg_notify($1, $2)', [CHANGES, text]);
}
