import type { Fact, Register, Statement, Value } from './statement.ts';
import { facts, type RegisterTable, registers } from './tables/tables.ts';

/** What runs one statement of SQL: a pg Client, or a PoolClient within a transaction. */
export type Sql = {
  readonly query: (text: string, values?: unknown[]) => Promise<{ readonly rows: Record<string, unknown>[] }>;
};

type Row = Readonly<Record<string, unknown>>;
type Insert = { readonly table: Statement['table']; readonly text: string; readonly rows: Map<string, Row> };

/** Postgres' jsonb takes neither NUL nor half a surrogate pair; any text of an agent must get through. */
export function clean(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('\0', '\uFFFD').toWellFormed();
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  if (Array.isArray(value)) return value.map(clean);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [clean(k), clean(v)]));
}

const quoted = (name: string): string => `"${name}"`;
const listed = (names: readonly string[]): string => names.map(quoted).join(', ');

function insertInto(table: string, key: readonly string[], columns: readonly string[], conflict: string): string {
  const all = listed([...key, ...columns]);
  const from = `SELECT ${all} FROM jsonb_populate_recordset(NULL::${quoted(table)}, $1::jsonb)`;
  return `INSERT INTO ${quoted(table)} (${all}) ${from} ON CONFLICT (${listed(key)}) DO ${conflict}`;
}

function factSql(table: Fact['table']): string {
  const { key, columns } = facts[table];
  return insertInto(table, key, columns, 'NOTHING');
}

function registerSql(statement: Register, columns: readonly string[]): string {
  const order = `${statement.group}_order`;
  const set = [order, ...columns].map((c) => `${quoted(c)} = EXCLUDED.${quoted(c)}`).join(', ');
  const held = `${quoted(statement.table)}.${quoted(order)}`;
  const newer = `UPDATE SET ${set} WHERE ${held} IS NULL OR ${held} < EXCLUDED.${quoted(order)}`;
  return insertInto(statement.table, registers[statement.table].key, [order, ...columns], newer);
}

const keyOf = (key: Readonly<Record<string, Value>>): string => JSON.stringify(Object.values(key));

function addFact(inserts: Map<string, Insert>, fact: Fact): void {
  const insert = inserts.get(fact.table) ?? { table: fact.table, text: factSql(fact.table), rows: new Map() };
  inserts.set(fact.table, insert);
  const key = keyOf(fact.key);
  if (!insert.rows.has(key)) insert.rows.set(key, { ...fact.key, ...fact.columns });
}

function addRegister(inserts: Map<string, Insert>, register: Register): void {
  const order = `${register.group}_order`;
  const name = `${register.table}.${register.group}`;
  const { table } = register;
  const insert = inserts.get(name) ?? {
    table,
    text: registerSql(register, Object.keys(register.columns)),
    rows: new Map(),
  };
  inserts.set(name, insert);
  const key = keyOf(register.key);
  const held = insert.rows.get(key)?.[order];
  if (typeof held === 'string' && held >= register.order) return;
  insert.rows.set(key, { ...register.key, [order]: register.order, ...register.columns });
}

type Query = { readonly text: string; readonly json: string };

const ordered = (rows: ReadonlyMap<string, Row>): readonly (Row | undefined)[] =>
  [...rows.keys()].sort().map((key) => rows.get(key));
const query = (text: string, rows: ReadonlyMap<string, Row>): Query => ({
  text,
  json: JSON.stringify(clean(ordered(rows))),
});

/**
 * Locks every row of these groups, and makes missing ones, without changing any: an upsert locks the row that it finds
 * even where its WHERE is false.
 */
function lock(table: RegisterTable, groups: readonly Insert[]): Query {
  const { key } = registers[table];
  const [first] = key;
  const text = insertInto(table, key, [], `UPDATE SET ${quoted(first)} = EXCLUDED.${quoted(first)} WHERE false`);
  const keysOf = (row: Row): Row => Object.fromEntries(key.map((name) => [name, row[name]]));
  const rows = groups.flatMap((group) => [...group.rows].map(([name, row]) => [name, keysOf(row)] as const));
  return query(text, new Map(rows));
}

/**
 * One INSERT a table or column group. Two writers must not block each other: all take rows in the order of tables and
 * keys. So a writer of several groups of a table locks the rows of all of them first.
 */
export function inserts(statements: readonly Statement[]): readonly Query[] {
  const found = new Map<string, Insert>();
  for (const statement of statements) {
    if (statement.kind === 'fact') addFact(found, statement);
    else addRegister(found, statement);
  }
  const named = [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, insert]) => insert);
  return [...Map.groupBy(named, ({ table }) => table)].flatMap(([table, groups]) => {
    const queries = groups.map(({ text, rows }) => query(text, rows));
    return groups.length === 1 ? queries : [lock(table as RegisterTable, groups), ...queries];
  });
}

/** Writes statements within the caller's transaction. Applied twice, or in another order, they leave the same rows. */
export async function apply(sql: Sql, statements: readonly Statement[]): Promise<void> {
  for (const insert of inserts(statements)) await sql.query(insert.text, [insert.json]);
}
