import { isDaily, type Statement, typeOf } from './statement.ts';

/** Runs one SQL statement: a pg Client, or a PoolClient within a transaction. */
export type Sql = {
  readonly query: (text: string, values?: unknown[]) => Promise<{ readonly rows: Record<string, unknown>[] }>;
};

type Row = Readonly<Record<string, unknown>>;
type Insert = { readonly table: Statement['table']; readonly text: string; readonly rows: Map<string, Statement> };

/** Postgres' jsonb accepts neither NUL nor half a surrogate pair, but any text of an agent must be stored. */
export const clean = (value: unknown): unknown => {
  if (typeof value === 'string') return value.replaceAll('\0', '\uFFFD').toWellFormed();
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  if (Array.isArray(value)) return value.map(clean);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [clean(k), clean(v)]));
};

/** In JSON: NUL, half a surrogate pair, and bytes. Text that has the escape itself only looks like one, and is cleaned for nothing. */
const UNCLEAN = /\\u(?:0000|d[89a-f])|"type":"Buffer"/;

/** The JSON of clean values. Hardly any value needs cleaning, and copying them all takes longer than their JSON. */
const storable = (values: unknown): string => {
  const json = JSON.stringify(values);
  return UNCLEAN.test(json) ? JSON.stringify(clean(values)) : json;
};

const quoted = (name: string): string => `"${name}"`;
const listed = (names: readonly string[]): string => names.map(quoted).join(', ');

/**
 * The columns are named with their types: `jsonb_populate_recordset` looks for each column of the table in each row, of
 * which `agents` has over a hundred.
 */
const insertInto = (
  table: Statement['table'],
  key: readonly string[],
  columns: readonly string[],
  conflict: string,
): string => {
  const names = [...key, ...columns];
  const all = listed(names);
  const typed = names.map((name) => `${quoted(name)} ${typeOf(table, name)}`).join(', ');
  const from = `SELECT ${all} FROM jsonb_to_recordset($1::jsonb) AS given (${typed})`;
  return `INSERT INTO ${quoted(table)} (${all}) ${from} ON CONFLICT (${listed(key)}) DO ${conflict}`;
};

/** The columns of a statement without its key. Those of a column group begin with its order. */
const columnsOf = (one: Statement): Row =>
  one.kind === 'fact' ? one.columns : { [`${one.group}_order`]: one.order, ...one.columns };

const insertOf = (statement: Statement): string => {
  const { table, key } = statement;
  const columns = Object.keys(columnsOf(statement));
  if (statement.kind === 'fact') return insertInto(table, Object.keys(key), columns, 'NOTHING');
  const order = quoted(`${statement.group}_order`);
  const set = columns.map((c) => `${quoted(c)} = EXCLUDED.${quoted(c)}`).join(', ');
  const held = `${quoted(table)}.${order}`;
  const newer = `UPDATE SET ${set} WHERE ${held} IS NULL OR ${held} < EXCLUDED.${order}`;
  return insertInto(table, Object.keys(key), columns, newer);
};

/** Keeps the first of equal facts, and the newest write of a column group. */
const add = (inserts: Map<string, Insert>, statement: Statement): void => {
  const name = statement.kind === 'fact' ? statement.table : `${statement.table}.${statement.group}`;
  const insert = inserts.get(name) ?? { table: statement.table, text: insertOf(statement), rows: new Map() };
  inserts.set(name, insert);
  const key = JSON.stringify(Object.values(statement.key));
  const held = insert.rows.get(key);
  if (held?.kind === 'fact' || (statement.kind === 'register' && held && held.order >= statement.order)) return;
  insert.rows.set(key, statement);
};

type Query = { readonly text: string; readonly json: string };

const query = (text: string, rows: ReadonlyMap<string, Statement>, rowOf: (one: Statement) => Row): Query => {
  const ordered = [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => rowOf(one));
  return { text, json: storable(ordered) };
};

/**
 * Locks every row of these groups, and inserts missing rows, without changing any. An upsert locks the existing row
 * even if its WHERE is false.
 */
const lock = (table: Statement['table'], groups: readonly Insert[]): Query => {
  const rows = new Map(groups.flatMap((group) => [...group.rows]));
  const key = Object.keys(rows.values().next().value?.key ?? {});
  const first = quoted(key[0] ?? '');
  const text = insertInto(table, key, [], `UPDATE SET ${first} = EXCLUDED.${first} WHERE false`);
  return query(text, rows, (one) => one.key);
};

/**
 * One INSERT a table or column group. Two writers must not deadlock, so all lock rows in the order of tables and keys.
 * A writer of several groups of a table first locks the rows of all groups.
 */
export const inserts = (statements: readonly Statement[]): readonly Query[] => {
  const found = new Map<string, Insert>();
  for (const statement of statements) add(found, statement);
  const named = [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, insert]) => insert);
  return [...Map.groupBy(named, ({ table }) => table)].flatMap(([table, groups]) => {
    const queries = groups.map(({ text, rows }) => query(text, rows, (one) => ({ ...one.key, ...columnsOf(one) })));
    return groups.length === 1 ? queries : [lock(table, groups), ...queries];
  });
};

/** Writes statements within the caller's transaction. Repeated, or in another order, they give the same rows. */
export const apply = async (sql: Sql, statements: readonly Statement[]): Promise<void> => {
  for (const insert of inserts(statements)) await sql.query(insert.text, [insert.json]);
};

/** The channel of the ids of changed rows, as JSON `[[table, id], …]`, at the end of each transaction. */
export const CHANGES = 'vigil_changes';
const LARGEST_NOTICE = 7_000; // Postgres: under 8000 bytes

const pairOf = (statement: Statement): string =>
  JSON.stringify([statement.table, clean(String(Object.values(statement.key)[0]))]);

/** The changed rows, in as many notices as necessary. Readers fetch the rows again. */
export const notices = (statements: readonly Statement[]): readonly string[] => {
  const pairs = statements.filter((s) => s.table !== 'journal' && !isDaily(s)).map(pairOf);
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
};

/** Notifies listeners (LISTEN vigil_changes) of the changes, when the caller's transaction commits. */
export const notify = async (sql: Sql, statements: readonly Statement[]): Promise<void> => {
  for (const text of notices(statements)) await sql.query('SELECT pg_notify($1, $2)', [CHANGES, text]);
};
