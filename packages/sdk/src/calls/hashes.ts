import { createHash } from 'node:crypto';

/** How the parts of a value are written. `key` false: the field is left out. */
export type Style = {
  readonly text: (text: string) => string;
  readonly number: (number: number | bigint) => string;
  readonly key: (key: string) => boolean;
};

/** Limits on what is read by this file, so that hashing does not delay the agent. Larger values are hashed as they are. */
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

const text = (value: string, reading: Reading): string => {
  if (value.length > MOST_CHARACTERS) return JSON.stringify(`text:${digestOf(Buffer.from(value))}`);
  spend(reading, value.length);
  return JSON.stringify(reading.style.text(value));
};

const write = (value: unknown, reading: Reading): string => {
  spend(reading, 1);
  switch (typeof value) {
    case 'string':
      return text(value, reading);
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

const read = (value: unknown, style: Style): string => {
  try {
    return write(value, { style, within: new Set(), characters: 0, values: 0 });
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

/**
 * The version of everything in this file. Every hash contains it, so that hashes of two versions
 * never compare equal. Raise it when you change what a hash is made of.
 */
export const NORMALISER = 3;

const exact: Style = { text: (text) => text, number: String, key: () => true };

/** Fields that differ between answers although nothing has changed: lower case, without - and _. */
const VOLATILE: ReadonlySet<string> = new Set(
  `timestamp time date datetime ts now createdat updatedat modifiedat startedat endedat finishedat completedat expiresat mtime atime ctime
   duration durationms durationseconds elapsed elapsedms elapsedseconds took tookms latency latencyms uptime pid
   requestid traceid spanid correlationid sessionid messageid toolcallid callid eventid uuid guid nonce etag traceparent`.split(
    /\s+/,
  ),
);

/** What follows such a label is progress: the cursor of a page, the time left. Look-behinds are bounded, for long texts. */
const NO_CURSOR = String.raw`(?<!(?:cursor|next|page_?token)\w{0,16}["':= ]{1,4}[\da-f-]{0,36})`;
const NOT_LEFT = String.raw`(?<!\b(?:eta|left|remaining)[:= ]{1,3}[\d.:]{0,16})`;
const NOR_LEFT = '(?! (?:left|remaining|to go))';
/** Ten digits are also a count of bytes, so epoch seconds need a label. */
const TIME_LABEL = String.raw`(?<=(?:\b|_)(?:(?:created|updated|modified|started|ended|finished|expires)?at|since|until|time|timestamp|date|ts|epoch|now)["':= ]{1,4})`;

/** Parts of a text that differ from run to run although nothing has changed. */
const VARYING = new RegExp(
  [
    // ids and hashes
    String.raw`\b${NO_CURSOR}[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}`,
    String.raw`\b0x[0-9a-f]+\b`,
    String.raw`\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)${NO_CURSOR}[0-9a-f]{7,}\b`,
    // dates with times, epoch seconds and milliseconds; a date alone seldom is the present one if it changes
    String.raw`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?`,
    String.raw`\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? (?:\d\d? [a-z]{3}|[a-z]{3} +\d\d?)\b(?: \d{4}\b)?`,
    String.raw`\b${NOT_LEFT}\d\d?:\d\d:\d\d(?:[.,]\d+)?${NOR_LEFT}`,
    String.raw`\b1[5-9]\d{8}(?:\d{3}(?:\.\d+)?|\.\d+)\b`,
    String.raw`\b(?=1[5-9])${TIME_LABEL}1[5-9]\d{8}\b`,
    // durations
    String.raw`\b${NOT_LEFT}\d+(?:\.\d+)? ?(?:ns|µs|us|ms|s|secs?|seconds?|mins?|minutes?|h|hours?)\b${NOR_LEFT}`,
    // addresses, ports and processes
    String.raw`\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b`,
    String.raw`\b(?:localhost:|ports? |pids?[ =:]+|process )\d+\b(?! of\b)`,
    // names of temporary files
    String.raw`(?:/tmp|/var/folders)/[^\s"'\`:,;)]+`,
    String.raw`\btmp[.\-_]?[a-z0-9_]{6,}\b`,
  ].join('|'),
  'gi',
);
/** Where a failure points to, and which attempt it was. A figure after another colon is a count. */
const POSITIONS =
  /(?<=\.[a-z]\w{0,4}:)\d+(?::\d+)?\b|\b(line|lines|col|column|row|char|offset|position|attempt|try|retry) #?\d+/gi;

const LONG_HEX = /\b(?:0x)?[0-9a-f]{8,}\b/gi;
const DIGITS = /\d+/g;

const isVolatile = (key: string): boolean => VOLATILE.has(key.toLowerCase().replace(/[-_]/g, ''));
const stable = (text: string): string => text.replace(VARYING, '#');
/** Figures stay: a counter that moves is progress, and so are fewer failures. */
const answer: Style = { text: stable, number: String, key: (key) => !isVolatile(key) };
const failure: Style = { ...answer, text: (text) => stable(text).replace(POSITIONS, '#') };
const masked: Style = {
  ...answer,
  text: (text) => stable(text).replace(LONG_HEX, '#').replace(DIGITS, '#'),
  number: () => '0',
};

/** Canonical JSON without what varies from run to run, such as times, ids and addresses. Null: unknown, see canonical. */
export const normalise = (value: unknown, failed: boolean): string | null =>
  canonical(value, failed ? failure : answer);

/** 128 bits of SHA-256, after the version that computed it. */
const hash = (kind: string, text: string | null): string | null =>
  text === null ? null : `${kind}${NORMALISER}:${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;

export const argsHash = (args: unknown): string | null => hash('a', canonical(args, exact));
/** `failed`: whether the call failed; then positions in files and numbers of attempts vary, too. */
export const resultHash = (result: unknown, failed: boolean): string | null => hash('r', normalise(result, failed));
/** Also without digits: results that differ in figures only are alike. */
export const maskedResultHash = (result: unknown): string | null => hash('m', canonical(result, masked));

/** A call's arguments and result, and whether it failed. An undefined value is unknown. */
export type Content = { readonly args?: unknown; readonly result?: unknown; readonly failed: boolean };

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
export const hashes = ({ args, result, failed }: Content): Hashes => ({
  args_hash: argsHash(args),
  result_hash: resultHash(result, failed),
  masked_result_hash: maskedResultHash(result),
});
