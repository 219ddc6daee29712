import { createHash } from 'node:crypto';

/** How the parts of a value are written. `key` false: the field is left out. */
export type Style = {
  readonly text: (text: string) => string;
  readonly number: (number: number | bigint) => string;
  readonly key: (key: string) => boolean;
};

/** Limits on what is read, so that hashing does not delay the agent. */
const MOST_CHARACTERS = 1 << 20;
const MOST_VALUES = 50_000;
const DEEPEST = 200;

/** The value is larger than the limits. */
class TooLarge extends Error {
  override readonly name = 'TooLarge';
}

type Reading = { readonly style: Style; readonly within: Set<object>; characters: number; values: number };

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
const fieldOf = (object: object, key: string): unknown => {
  try {
    return (object as Record<string, unknown>)[key];
  } catch {
    return '[unreadable]';
  }
};

const fields = (object: object, keys: readonly string[], reading: Reading): string => {
  const written: string[] = [];
  for (const key of [...keys].sort()) {
    if (!reading.style.key(key)) continue;
    const value = fieldOf(object, key);
    if (value === undefined || typeof value === 'function' || typeof value === 'symbol') continue;
    spend(reading, key.length);
    written.push(`${JSON.stringify(key)}:${write(value, reading)}`);
  }
  return `{${written.join(',')}}`;
};

const list = (items: Iterable<unknown>, reading: Reading): string => {
  const written: string[] = [];
  for (const item of items) written.push(write(item, reading));
  return `[${written.join(',')}]`;
};

const content = (object: object, reading: Reading): string => {
  if (Array.isArray(object) || object instanceof Set) return list(object, reading);
  if (object instanceof Map) return list(object.entries(), reading);
  if (object instanceof Date) return write(Number.isNaN(object.getTime()) ? null : object.toISOString(), reading);
  if (object instanceof Error) return fields(object, ['name', 'message', ...Object.keys(object)], reading);
  if (ArrayBuffer.isView(object)) {
    spend(reading, object.byteLength);
    return JSON.stringify(`bytes:${digestOf(object)}`);
  }
  const toJson = fieldOf(object, 'toJSON');
  return typeof toJson === 'function'
    ? write(toJson.call(object), reading)
    : fields(object, Object.keys(object), reading);
};

const nested = (object: object, reading: Reading): string => {
  if (reading.within.has(object)) return '"[circular]"';
  reading.within.add(object);
  const written = content(object, reading);
  reading.within.delete(object);
  return written;
};

const write = (value: unknown, reading: Reading): string => {
  spend(reading, typeof value === 'string' ? value.length : 1);
  switch (typeof value) {
    case 'string':
      return JSON.stringify(reading.style.text(value));
    case 'number':
      return Number.isFinite(value) ? reading.style.number(value) : 'null';
    case 'bigint':
      return reading.style.number(value);
    case 'boolean':
      return String(value);
    case 'object':
      return value === null ? 'null' : nested(value, reading);
    case 'undefined':
    case 'function':
    case 'symbol':
      return 'null';
  }
};

/**
 * JSON with sorted keys and no white space. Cycles are cut, and a digest replaces bytes.
 * Null: no value, an unreadable value, or one above the limits. Such values are not compared.
 */
export const canonical = (value: unknown, style: Style): string | null => {
  if (value === undefined) return null;
  try {
    return write(value, { style, within: new Set(), characters: 0, values: 0 });
  } catch {
    return null;
  }
};
