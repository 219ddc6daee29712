import type { Sql } from '../apply.ts';

/** A column of a query and the type of its values. `sql`: null for the column of the same name in snake_case. */
type Column<T> = { readonly sql: string | null; readonly value?: T };

export const column = <T>(sql: string | null = null): Column<T> => ({ sql });

/** The rows of a query that selects these columns. */
export type RowOf<Columns> = {
  readonly [K in keyof Columns]: Columns[K] extends Column<infer T> ? T : never;
};

const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The columns as an SQL list. Only this function converts snake_case to camelCase. */
export const listed = (columns: Readonly<Record<string, Column<unknown>>>): string =>
  Object.entries(columns)
    .map(([name, { sql }]) => `${sql ?? snake(name)} AS "${name}"`)
    .join(', ');

export const select = async <Row>(sql: Sql, text: string, values: unknown[] = []): Promise<readonly Row[]> => {
  const { rows } = await sql.query(text, values);
  return rows as Row[];
};

/** At most `limit` rows of these columns that meet the conditions, in this order. */
export const list = <Columns extends Readonly<Record<string, Column<unknown>>>>(
  sql: Sql,
  columns: Columns,
  from: string,
  conditions: Conditions,
  order: string,
  limit: number,
): Promise<readonly RowOf<Columns>[]> => {
  const { text, values } = where(conditions);
  const query = `SELECT ${listed(columns)} FROM ${from} ${text} ORDER BY ${order} LIMIT $${values.length + 1}`;
  return select<RowOf<Columns>>(sql, query, [...values, limit]);
};

/** The filters of a query; each is optional. */
export type Filter<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] | undefined };

type Conditions = readonly (readonly [sql: string, value?: unknown] | null)[];

/** `WHERE` of the requested conditions; each names its own value as $n. */
export const where = (
  conditions: Conditions,
): {
  readonly text: string;
  readonly values: unknown[];
} => {
  const values: unknown[] = [];
  const texts = conditions
    .filter((c) => c !== null)
    .map(([sql, ...given]) => {
      if (given.length === 0) return sql;
      values.push(given[0]);
      return sql.replaceAll('$?', `$${values.length}`);
    });
  return { text: texts.length === 0 ? '' : `WHERE ${texts.join(' AND ')}`, values };
};

/** The place of a row in a list, which is in the ascending order of its places. No two rows have the same. */
export type Place = readonly (number | string)[];
/** A page: at most `limit` rows, those after a place. Without them it is the first page, of so many as a page may have. */
export type Paged = { readonly after: Place; readonly limit: number };
/** The parts of a place: expressions that are never null, their types, and the value that a row has. */
export type Order<Row> = readonly (readonly [
  sql: string,
  type: 'bigint' | 'text',
  of: (row: Row) => number | string,
])[];

/** The place of a row in a list of this order. */
export const placeOf = <Row>(order: Order<Row>, row: Row): Place => order.map(([, , of]) => of(row));

/** The most rows of a page. */
export const MOST_ROWS = 1000;

/** Where a later instant comes first; an unknown one comes last. */
export const newestFirst = <Row>(column: string, of: (row: Row) => number | null): Order<Row>[number] => [
  `-coalesce((extract(epoch FROM ${column}) * 1000)::bigint, 0)`,
  'bigint',
  (row) => -(of(row) ?? 0),
];

export const orderBy = <Row>(order: Order<Row>): string => order.map(([sql]) => sql).join(', ');

/** The rows after a place. */
export const afterPlace = <Row>(order: Order<Row>, place: Place | undefined) => {
  const parts = order.map(([, type], index) => `($?::text[])[${index + 1}]::${type}`);
  return when(`(${orderBy(order)}) > (${parts.join(', ')})`, place?.map(String));
};

/** The conditions of a time span: at or after `since`, before `until`; epoch milliseconds. */
export const within = (column: string, { since, until }: Filter<Span>) => [
  when(`${column} >= to_timestamp($?::double precision / 1000)`, since),
  when(`${column} < to_timestamp($?::double precision / 1000)`, until),
];
export type Span = { readonly since: number; readonly until: number };

/** A condition that applies if a value is given. */
export const when = (sql: string, value: unknown): readonly [string, unknown] | null =>
  value === undefined ? null : [sql, value];

/** Names and values; all of them are meant. */
export type Labels = readonly (readonly [name: string, value: string])[];

/** A condition on the agent of a row, which is in `agentId`. */
const itsAgent = (agentId: string, condition: string): string =>
  `EXISTS (SELECT FROM agents WHERE agents.agent_id = ${agentId} AND ${condition})`;

const contained = ([name, value]: Labels[number]): string => JSON.stringify({ [name]: value });

/** The conditions of a table that has labels and an agent: its labels, and the host and the policy of its agent. */
export const ofAgent = (table: string, { host, policy, labels }: Filter<OfAgent>) => [
  ...(labels ?? []).map((label) => when(`${table}.labels @> $?::jsonb`, contained(label))),
  ...whereAgentIs(`${table}.agent_id`, { host, policy }),
];

const POLICY = 'coalesce(agents.policy_name, agents.instance_policy_name)';

/** The conditions of a row without labels: those of the agent that is in `agentId`, its host and its policy. */
export const whereAgentIs = (agentId: string, { host, policy, labels }: Filter<OfAgent>) => [
  ...(labels ?? []).map((label) =>
    when(itsAgent(agentId, 'coalesce(agents.heartbeat_labels, agents.state_labels) @> $?::jsonb'), contained(label)),
  ),
  when(itsAgent(agentId, 'agents.host = $?'), host),
  when(itsAgent(agentId, `${POLICY} = $?`), policy),
];
/** `host`: where the agent is, or was last. `policy`: that judges it, or judged it last. */
export type OfAgent = { readonly host: string; readonly policy: string; readonly labels: Labels };
