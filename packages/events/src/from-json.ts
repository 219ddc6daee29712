import { Unfit } from './errors.ts';

/**
 * JSON (as parsed) to the value of an Avro schema: defaults filled in, times as RFC 3339 or epoch milliseconds, unknown
 * symbols UNKNOWN.
 */
type JsonSchema = string | JsonSchema[] | { type: string; name?: string; [attribute: string]: unknown };
type Field = { name: string; type: JsonSchema; default?: unknown };
type Named = Map<string, JsonSchema>;

/** Something that was taken, though not as its sender may have meant it. */
export type Remark =
  | { readonly kind: 'unknown_field'; readonly path: string; readonly field: string; readonly known: readonly string[] }
  | { readonly kind: 'unknown_word'; readonly path: string; readonly word: string; readonly known: readonly string[] };

type Reading = { readonly named: Named; readonly remarks: Remark[] };

const UNKNOWN = 'UNKNOWN';
const LONGEST_LIST = 1_000;
const LONGEST_TEXT = 65_536;

/** Lists and objects by their kind only: writing one out that is nested without end takes all of the stack. */
const shown = (value: unknown): string => {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
};
const unfit = (field: string, value: unknown, expected: string): never => {
  throw new Unfit(
    'bad_field',
    field,
    `${field === '' ? 'the value' : field} is ${shown(value)}: ${expected} is wanted`,
  );
};
const joined = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

const integer = (value: unknown, path: string, limit: number): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && Math.abs(value) <= limit
    ? value
    : unfit(path, value, 'a whole number');

const instant = (value: unknown, path: string): number => {
  if (typeof value !== 'string') return integer(value, path, 8.64e15);
  const parsed = /^\d{4}-\d{2}-\d{2}T/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(parsed) ? unfit(path, value, 'a time (RFC 3339, or epoch milliseconds)') : parsed;
};

const text = (value: unknown, path: string): string => {
  if (typeof value !== 'string') return unfit(path, value, 'a text');
  if (value.length > LONGEST_TEXT)
    return unfit(path, `${value.slice(0, 40)}…`, `a text of at most ${LONGEST_TEXT} characters`);
  return value.isWellFormed() ? value : value.toWellFormed();
};

const entriesOf = (value: unknown, path: string): [string, unknown][] =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value)
    : unfit(path, value, 'an object');

const remarkFields = (
  fields: Field[],
  given: ReadonlyMap<string, unknown>,
  path: string,
  { remarks }: Reading,
): void => {
  const known = fields.map(({ name }) => name);
  for (const field of given.keys())
    if (!known.includes(field)) remarks.push({ kind: 'unknown_field', path: joined(path, field), field, known });
};

const record = (fields: Field[], value: unknown, path: string, reading: Reading): Record<string, unknown> => {
  const given = new Map(entriesOf(value, path));
  remarkFields(fields, given, path, reading);
  return Object.fromEntries(
    fields.map((field) => {
      const own = given.get(field.name);
      if (own === undefined && 'default' in field) return [field.name, field.default];
      const name = joined(path, field.name);
      if (own === undefined) throw new Unfit(`missing_field:${field.name}`, name, `${name} is missing`);
      return [field.name, convert(field.type, own, name, reading)];
    }),
  );
};

const list = (items: JsonSchema, value: unknown, path: string, reading: Reading): unknown[] => {
  if (!Array.isArray(value)) return unfit(path, value, 'a list');
  if (value.length > LONGEST_LIST) return unfit(path, value.length, `a list of at most ${LONGEST_LIST}`);
  return value.map((item, index) => convert(items, item, `${path}[${index}]`, reading));
};

const primitive = (type: string, value: unknown, path: string): unknown => {
  switch (type) {
    case 'string':
      return text(value, path);
    case 'boolean':
      return typeof value === 'boolean' ? value : unfit(path, value, 'true or false');
    case 'int':
      return integer(value, path, 0x7fff_ffff);
    case 'long':
      return integer(value, path, Number.MAX_SAFE_INTEGER);
    case 'double':
      return typeof value === 'number' && Number.isFinite(value) ? value : unfit(path, value, 'a number');
    case 'bytes':
      return Buffer.from(text(value, path), 'base64');
    default:
      throw new Error(`the schema of ${path} has the unknown type ${type}`);
  }
};

const convert = (schema: JsonSchema, value: unknown, path: string, reading: Reading): unknown => {
  const { named } = reading;
  if (typeof schema === 'string')
    return named.has(schema)
      ? convert(named.get(schema) as JsonSchema, value, path, reading)
      : primitive(schema, value, path);
  if (Array.isArray(schema)) return value === null ? null : convert(schema[1] as JsonSchema, value, path, reading);
  if (schema.name !== undefined) named.set(schema.name, schema);
  switch (schema.type) {
    case 'record':
      return record(schema.fields as Field[], value, path, reading);
    case 'array':
      return list(schema.items as JsonSchema, value, path, reading);
    case 'map':
      return Object.fromEntries(
        entriesOf(value, path).map(([key, item]) => [
          text(key, path),
          convert(schema.values as JsonSchema, item, joined(path, key), reading),
        ]),
      );
    case 'enum': {
      const symbol = text(value, path);
      const symbols = schema.symbols as string[];
      if (symbols.includes(symbol)) return symbol;
      reading.remarks.push({
        kind: 'unknown_word',
        path,
        word: symbol,
        known: symbols.filter((one) => one !== UNKNOWN),
      });
      return UNKNOWN;
    }
    default:
      return schema.logicalType === 'timestamp-millis' ? instant(value, path) : primitive(schema.type, value, path);
  }
};

/** Every named type of a schema, wherever it is declared: a field may use one that an absent field declares. */
const namesIn = (schema: JsonSchema, named: Named): void => {
  if (typeof schema === 'string') return;
  if (Array.isArray(schema)) {
    for (const member of schema) namesIn(member, named);
    return;
  }
  if (schema.name !== undefined) named.set(schema.name, schema);
  for (const field of (schema.fields as Field[] | undefined) ?? []) namesIn(field.type, named);
  for (const inner of ['items', 'values']) if (schema[inner] !== undefined) namesIn(schema[inner] as JsonSchema, named);
  if (typeof schema.type === 'object') namesIn(schema.type as JsonSchema, named);
};

/**
 * Converts parsed JSON to a value of the schema; unknown parts are added to `remarks`. Throws Unfit, naming field and
 * value.
 */
export const fromJson = (schemaJson: string): ((value: unknown, remarks: Remark[]) => Record<string, unknown>) => {
  const schema = JSON.parse(schemaJson) as JsonSchema & { type: string };
  const named: Named = new Map();
  namesIn(schema, named);
  return (value, remarks) => convert(schema, value, '', { named, remarks }) as Record<string, unknown>;
};
