import { createHash } from 'node:crypto';

/** How a field is written: not at all, unchanged, or by the style. */
export type Writing = 'omitted' | 'unchanged' | 'styled';

/** How the parts of a value are written. */
export type Style = {
  readonly text: (text: string) => string;
  readonly number: (number: number | bigint) => string;
  /** `inList`: the field is one of an item of a list */
  readonly field: (key: string, inList: boolean, value: unknown) => Writing;
  /** whether ids name the items of the list in this field */
  readonly namesItems: (key: string) => boolean;
  /** whether a text that is a JSON object or list is written as that */
  readonly readsJson: boolean;
};

/** Everything as it is. */
export const UNCHANGED: Style = {
  text: (text) => text,
  number: String,
  field: () => 'styled',
  namesItems: () => true,
  readsJson: false,
};

/** Limits on what is read by this file, so that hashing does not delay the agent. Larger values are hashed as they are. */
const MOST_CHARACTERS = 1 << 20;
const MOST_VALUES = 50_000;
const DEEPEST = 200;

/** The value is larger than the limits. */
class TooLarge extends Error {
  override readonly name = 'TooLarge';
}

/** `namesItems`: whether ids name the items of a list that is read next. */
type Reading = { style: Style; namesItems: boolean; readonly within: Set<object>; characters: number; values: number };

const spend = (reading: Reading, characters: number): void => {
  reading.values += 1;
  reading.characters += characters;
  const tooMuch = reading.characters > MOST_CHARACTERS || reading.values > MOST_VALUES;
  if (tooMuch || reading.within.size > DEEPEST) throw new TooLarge();
};

const digestOf = (bytes: ArrayBufferView): string =>
  createHash('sha256')
    .update(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    .digest('hex');

/** A field whose getter throws exists, but cannot be read. */
export const fieldOf = (object: object, key: string): unknown => {
  try {
    return (object as Record<string, unknown>)[key];
  } catch {
    return '[unreadable]';
  }
};

const fields = (object: object, keys: readonly string[], reading: Reading, inList: boolean): string => {
  const written: string[] = [];
  const { style, namesItems } = reading;
  for (const key of [...keys].sort()) {
    const value = fieldOf(object, key);
    const writing = style.field(key, inList, value);
    if (writing === 'omitted') continue;
    if (value === undefined || typeof value === 'function' || typeof value === 'symbol') continue;
    spend(reading, key.length);
    reading.style = writing === 'unchanged' ? UNCHANGED : style;
    reading.namesItems = style.namesItems(key);
    written.push(`${JSON.stringify(key)}:${write(value, reading, false)}`);
  }
  reading.style = style;
  reading.namesItems = namesItems;
  return `{${written.join(',')}}`;
};

const list = (items: Iterable<unknown>, reading: Reading): string => {
  const written: string[] = [];
  const { namesItems } = reading;
  for (const item of items) written.push(write(item, reading, namesItems));
  return `[${written.join(',')}]`;
};

const content = (object: object, reading: Reading, inList: boolean): string => {
  if (Array.isArray(object) || object instanceof Set) return list(object, reading);
  if (object instanceof Map) return list(object.entries(), reading);
  if (object instanceof Date)
    return write(Number.isNaN(object.getTime()) ? null : object.toISOString(), reading, inList);
  if (object instanceof Error) return fields(object, ['name', 'message', ...Object.keys(object)], reading, inList);
  if (ArrayBuffer.isView(object)) {
    return JSON.stringify(`bytes:${digestOf(object)}`);
  }
  const toJson = fieldOf(object, 'toJSON');
  return typeof toJson === 'function'
    ? write(toJson.call(object), reading, inList)
    : fields(object, Object.keys(object), reading, inList);
};

const nested = (object: object, reading: Reading, inList: boolean): string => {
  if (reading.within.has(object)) return '"[circular]"';
  reading.within.add(object);
  const written = content(object, reading, inList);
  reading.within.delete(object);
  return written;
};

/** The JSON object or list that a text is; null: it is another text. */
const jsonIn = (value: string): object | null => {
  if (!/^\s*[[{]/.test(value) || !/[\]}]\s*$/.test(value)) return null;
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === 'object' ? parsed : null;
  } catch {
    return null;
  }
};

/** A line that begins as JSON, among others. */
const JSON_LINE = /\n[[{]|^[[{].*[\]}]\r?\n/;

const lines = (value: string, reading: Reading, inList: boolean): readonly string[] =>
  value.split('\n').map((line) => {
    const json = jsonIn(line);
    return json === null ? reading.style.text(line) : nested(json, reading, inList);
  });

const text = (value: string, reading: Reading, inList: boolean): string => {
  if (value.length > MOST_CHARACTERS) return JSON.stringify(`text:${digestOf(Buffer.from(value))}`);
  spend(reading, value.length);
  const json = reading.style.readsJson ? jsonIn(value) : null;
  if (json !== null) return nested(json, reading, inList);
  if (reading.style.readsJson && JSON_LINE.test(value)) return JSON.stringify(lines(value, reading, inList));
  return JSON.stringify(reading.style.text(value));
};

const write = (value: unknown, reading: Reading, inList: boolean): string => {
  spend(reading, 1);
  switch (typeof value) {
    case 'string':
      return text(value, reading, inList);
    case 'number':
      return Number.isFinite(value) ? reading.style.number(value) : 'null';
    case 'bigint':
      return reading.style.number(value);
    case 'boolean':
      return String(value);
    case 'object':
      return value === null ? 'null' : nested(value, reading, inList);
    case 'undefined':
    case 'function':
    case 'symbol':
      return 'null';
  }
};

const read = (value: unknown, style: Style): string => {
  try {
    return write(value, { style, namesItems: true, within: new Set(), characters: 0, values: 0 }, false);
  } catch (error) {
    if (error instanceof TooLarge) return JSON.stringify(value) ?? 'null';
    throw error;
  }
};

/**
 * JSON with sorted keys and no white space. Cycles are cut, and a digest replaces bytes and long texts. A value with
 * too many parts is written as it is.
 * Null: no value, or an unreadable one. Such values are not compared.
 */
export const canonical = (value: unknown, style: Style): string | null => {
  if (value === undefined) return null;
  try {
    return read(value, style);
  } catch {
    return null;
  }
};
