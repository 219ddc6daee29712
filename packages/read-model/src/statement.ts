import { tables } from './generated/tables.ts';

/** Any JSON value; times as RFC 3339 texts (`instant`). */
export type Value = string | number | boolean | null | object;
type Row = Readonly<Record<string, Value>>;

/** The input type of a column; an instant is epoch milliseconds. */
type Types = {
  readonly text: string;
  readonly boolean: boolean;
  readonly integer: number;
  readonly bigint: number;
  readonly jsonb: object;
  readonly timestamptz: number;
  readonly bytea: Buffer;
};
type Nullable<Type> = Type extends `${infer Some extends keyof Types}?`
  ? Types[Some] | null
  : Types[Type & keyof Types];
type Camel<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name;
type Named<Columns> = { readonly [K in keyof Columns & string as Camel<K>]: Nullable<Columns[K]> };

type Tables = typeof tables;
type TableName = keyof Tables;
/** The tables without column groups. */
type FactTable = { [T in TableName]: '' extends keyof Tables[T]['groups'] ? T : never }[TableName];
type RegisterTable = Exclude<TableName, FactTable>;
type Group<T extends TableName> = keyof Tables[T]['groups'] & string;
/** A value for each column of the key and of the group, by its name in camelCase. */
type Values<T extends TableName, G> = Named<Tables[T]['key']> & Named<Tables[T]['groups'][G & Group<T>]>;

/** A row for a fact. A second one with the same key changes nothing. */
export type Fact = { readonly kind: 'fact'; readonly table: FactTable; readonly key: Row; readonly columns: Row };

/** A complete column group of a row. It changes nothing unless its order is above the stored one. */
export type Register = {
  readonly kind: 'register';
  readonly table: RegisterTable;
  readonly key: Row;
  readonly group: string;
  /** see `orderOf`: the group keeps the values with the greatest order */
  readonly order: string;
  readonly columns: Row;
};

export type Statement = Fact | Register;

/** The tables with a partition for each day, and the column of the key that has the time. */
export const DAILY = {
  history: 'occurred_at',
  heartbeat_hours: 'hour_at',
  heartbeat_minutes: 'minute_at',
  calls: 'day_at',
  compactions: 'occurred_at',
} as const satisfies { readonly [T in TableName]?: string };
export type DailyTable = keyof typeof DAILY;

export const isDaily = ({ table }: Statement): boolean => Object.hasOwn(DAILY, table);

/** The fact of these values. Values without a column are omitted. */
export const fact = <T extends FactTable>(table: T, values: Values<T, ''>): Fact => {
  const { key, groups } = tables[table];
  return { kind: 'fact', table, key: picked(key, values), columns: picked(groups[''], values) };
};

/** A column group with the order of an event. Values without a column in the group are omitted. */
export const register = <T extends RegisterTable, G extends Group<T>>(
  event: Ordered,
  table: T,
  group: G,
  values: Values<T, G>,
): Register => {
  const { key, groups } = tables[table];
  const columns = (groups as Readonly<Record<string, Readonly<Record<string, string>>>>)[group] ?? {};
  const order = orderOf(event);
  return { kind: 'register', table, key: picked(key, values), group, order, columns: picked(columns, values) };
};

/** The type of a column in Postgres. The order of a column group is a text. */
export const typeOf = (table: TableName, column: string): string => {
  const { key, groups } = tables[table];
  const found = [key, ...Object.values(groups)].map((columns: Columns) => columns[column]);
  return found.find((type) => type !== undefined)?.replace('?', '') ?? 'text';
};

const camel = (name: string): string => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

type Columns = Readonly<Record<string, string>>;
type Field = { readonly name: string; readonly given: string; readonly isInstant: boolean };

/** The fields of columns, computed once: computed for each row, they were three quarters of the time of a handler. */
const FIELDS = new WeakMap<Columns, readonly Field[]>();

const fieldsOf = (columns: Columns): readonly Field[] => {
  const known = FIELDS.get(columns);
  if (known !== undefined) return known;
  const fields = Object.entries(columns).map(([name, type]) => ({
    name,
    given: camel(name),
    isInstant: type.startsWith('timestamptz'),
  }));
  FIELDS.set(columns, fields);
  return fields;
};

const picked = (columns: Columns, values: object): Row => {
  const given = values as Row;
  const row: Record<string, Value> = {};
  for (const { name, given: field, isInstant } of fieldsOf(columns)) {
    const value = given[field] ?? null;
    row[name] = isInstant ? (instant(value as number | null) as Value) : value;
  }
  return row;
};

const MAX_INSTANT = 253_402_300_799_999; // the end of the year 9999: Postgres does not read later ones as RFC 3339

/**
 * Formats epoch milliseconds for Postgres. An instant outside the calendar is unknown, because agents may report any
 * number.
 */
export const instant = (ms: number | null): string | null => {
  if (ms === null || !(ms >= 0 && ms <= MAX_INSTANT)) return null;
  return INSTANTS.get(ms) ?? formatted(ms);
};

/** The last instants: an event has the same one in several rows, and those of a batch share their minute and hour. */
const INSTANTS = new Map<number, string>();
const MOST_INSTANTS = 1000;

const formatted = (ms: number): string => {
  if (INSTANTS.size >= MOST_INSTANTS) INSTANTS.clear();
  const text = new Date(ms).toISOString();
  INSTANTS.set(ms, text);
  return text;
};

type Ordered = {
  readonly version: number | null;
  readonly epoch: number | null;
  /** the offset of its record in the one partition of its key */
  readonly offset: number;
};

const padded = (n: number, width: number): string => String(n).padStart(width, '0');

/**
 * The order of an event among those of the same state key, as a text that sorts bytewise. It is epoch and version if a
 * decider wrote the event, else the offset, because clocks differ between brokers and gateways.
 */
export const orderOf = (event: Ordered): string => {
  if (event.version !== null) return `${padded(event.epoch ?? 0, 16)}.${padded(event.version, 16)}`;
  return `@${padded(event.offset, 16)}`;
};
