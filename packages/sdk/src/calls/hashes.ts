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

/**
 * The version of everything in this file. Every hash contains it, so that hashes of two versions
 * never compare equal. Raise it when you change what a hash is made of.
 */
export const NORMALISER = 1;

const exact: Style = { text: (text) => text, number: String, key: () => true };

/** Fields that differ between answers although nothing has changed: lower case, without - and _. */
const VOLATILE: ReadonlySet<string> = new Set(
  `timestamp time date datetime ts now createdat updatedat modifiedat startedat endedat finishedat completedat expiresat mtime atime ctime
   duration durationms durationseconds elapsed elapsedms elapsedseconds took tookms latency latencyms uptime pid
   requestid traceid spanid correlationid sessionid messageid toolcallid callid eventid uuid guid nonce etag traceparent`.split(
    /\s+/,
  ),
);

const UUID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi;
const LONG_HEX = /\b(?:0x)?[0-9a-f]{8,}\b/gi;
const DIGITS = /\d+/g;

const masked: Style = {
  text: (text) => text.replace(UUID, '#').replace(LONG_HEX, '#').replace(DIGITS, '#'),
  number: () => '0',
  key: (key) => !VOLATILE.has(key.toLowerCase().replace(/[-_]/g, '')),
};

/** Canonical JSON with digits, long hex and UUIDs masked and volatile fields dropped. Null: unknown, see canonical. */
export const normalise = (value: unknown): string | null => canonical(value, masked);

/** 128 bits of SHA-256, after the version that computed it. */
const hash = (kind: string, text: string | null): string | null =>
  text === null ? null : `${kind}${NORMALISER}:${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;

export const argsHash = (args: unknown): string | null => hash('a', canonical(args, exact));
export const resultHash = (result: unknown): string | null => hash('r', canonical(result, exact));
export const maskedResultHash = (result: unknown): string | null => hash('m', normalise(result));

export type Hashes = {
  readonly args_hash: string | null;
  readonly result_hash: string | null;
  readonly masked_result_hash: string | null;
};

/** A call whose end is not known, with these fields. */
export const notEnded = {
  result_hash: null,
  masked_result_hash: null,
  outcome: 'running',
  error_class: null,
  ended_at: null,
} as const;

/**
 * The hashes of a call's content, computed where the agent runs: no content leaves it. Null: unknown, and never
 * compared.
 */
export const hashes = ({ args, result }: { readonly args?: unknown; readonly result?: unknown }): Hashes => ({
  args_hash: argsHash(args),
  result_hash: resultHash(result),
  masked_result_hash: maskedResultHash(result),
});
