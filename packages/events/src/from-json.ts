import avro, { type Schema, type Type } from 'avsc';
import { Unfit } from './errors.ts';

const { ArrayType, EnumType, LogicalType, MapType, RecordType, UnwrappedUnionType } = avro.types;

/** A long of milliseconds. In JSON it is RFC 3339 or epoch milliseconds. */
class Instant extends LogicalType {}

const types = new Map<string, Type>();

/** The Avro types for reading JSON, in which times are separate types. */
export const jsonTypeOf = (schemaJson: string): Type => {
  const known = types.get(schemaJson);
  if (known !== undefined) return known;
  const logicalTypes = { 'timestamp-millis': Instant };
  const type = avro.Type.forSchema(JSON.parse(schemaJson) as Schema, { wrapUnions: false, logicalTypes });
  types.set(schemaJson, type);
  return type;
};

/** A part of the input that was accepted, but possibly not as its sender meant it. */
export type Remark =
  | { readonly kind: 'unknown_field'; readonly path: string; readonly field: string; readonly known: readonly string[] }
  | { readonly kind: 'unknown_word'; readonly path: string; readonly word: string; readonly known: readonly string[] };

const UNKNOWN = 'UNKNOWN';
const LONGEST_LIST = 1_000;
const LONGEST_TEXT = 65_536;

/**
 * A value for an error message. Lists and objects appear only as their type, because a deeply nested one would exhaust
 * the stack.
 */
export const shown = (value: unknown): string => {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
};
const unfit = (field: string, value: unknown, expected: string): never => {
  throw new Unfit('bad_field', field, `${field === '' ? 'the value' : field} is ${shown(value)}: use ${expected}`);
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

const record = (fields: readonly avro.types.Field[], value: unknown, path: string, remarks: Remark[]) => {
  const given = new Map(entriesOf(value, path));
  const known = fields.map(({ name }) => name);
  for (const field of given.keys())
    if (!known.includes(field)) remarks.push({ kind: 'unknown_field', path: joined(path, field), field, known });
  return Object.fromEntries(
    fields.map((field) => {
      const own = given.get(field.name);
      const name = joined(path, field.name);
      if (own !== undefined) return [field.name, convert(field.type, own, name, remarks)];
      const usual: unknown = field.defaultValue();
      if (usual === undefined) throw new Unfit(`missing_field:${field.name}`, name, `${name} is missing`);
      return [field.name, usual];
    }),
  );
};

const list = (items: Type, value: unknown, path: string, remarks: Remark[]): unknown[] => {
  if (!Array.isArray(value)) return unfit(path, value, 'a list');
  if (value.length > LONGEST_LIST) return unfit(path, value.length, `a list of at most ${LONGEST_LIST}`);
  return value.map((item, index) => convert(items, item, `${path}[${index}]`, remarks));
};

const symbolIn = (symbols: readonly string[], value: unknown, path: string, remarks: Remark[]): string => {
  const word = text(value, path);
  if (symbols.includes(word)) return word;
  remarks.push({ kind: 'unknown_word', path, word, known: symbols.filter((one) => one !== UNKNOWN) });
  return UNKNOWN;
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

/**
 * Converts parsed JSON to a value of the type, and adds unknown parts to `remarks`. Throws Unfit, naming field and
 * value.
 */
export const convert = (type: Type, value: unknown, path: string, remarks: Remark[]): unknown => {
  if (type instanceof UnwrappedUnionType)
    return value === null ? null : convert(type.types[1] as Type, value, path, remarks);
  if (type instanceof RecordType) return record(type.fields, value, path, remarks);
  if (type instanceof ArrayType) return list(type.itemsType, value, path, remarks);
  if (type instanceof EnumType) return symbolIn(type.symbols, value, path, remarks);
  if (type instanceof LogicalType) return instant(value, path);
  if (!(type instanceof MapType)) return primitive(type.typeName, value, path);
  const entries = entriesOf(value, path).map(([key, item]) => [
    text(key, path),
    convert(type.valuesType, item, joined(path, key), remarks),
  ]);
  return Object.fromEntries(entries);
};
