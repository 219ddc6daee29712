import { z } from 'zod';

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)$/;

const SHOWN = 60;
export const shown = (value: unknown): string => {
  // JSON has no infinity, so it was a number of too many digits.
  if (value === Infinity || value === -Infinity)
    return `a number ${value < 0 ? 'below -' : 'above '}1.8e308, such as ${value < 0 ? '-' : ''}1e999,`;
  const text = JSON.stringify(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
};

/** The error message for a value: the problem and the remedy. */
export const must = (be: string, give: string) => ({
  error: ({ input }: { readonly input?: unknown }): string =>
    input === undefined ? `is missing: give ${give}` : `${shown(input)} is ${be}: give ${give}`,
});
const NO_TIME = must('no time', 'seconds, or RFC 3339 such as 2026-11-22T04:00:00Z');

const DAY_S = 86_400;
/** The longest run with relative times. A larger number of seconds is milliseconds, or a date. */
const LONGEST_RUN_S = 30 * DAY_S;
/** The first plausible date, 2000. */
const FIRST_DATE_S = Date.UTC(2000) / 1000;
/** From this value on a number cannot be a date in milliseconds: it is in the year 2286 or later. */
const TOO_LARGE_FROM = 1e13;
/** From this value on a date is in milliseconds: as seconds it would be in the year 5138. */
const MILLISECONDS_FROM = 1e11;
/** The unit of a number that is too large for milliseconds. */
const unitOf = (value: number): string => (Math.abs(value) >= 1e17 ? 'nanoseconds' : 'microseconds');

/** A number as milliseconds, or what is wrong with it. */
const fromNumber = (value: number): number | string => {
  if (Math.abs(value) >= TOO_LARGE_FROM) return `looks like ${unitOf(value)}: give seconds or milliseconds`;
  if (Math.abs(value) <= LONGEST_RUN_S) return Math.round(value * 1000);
  if (value >= FIRST_DATE_S && value < MILLISECONDS_FROM) return Math.round(value * 1000);
  if (value >= FIRST_DATE_S * 1000) return Math.round(value);
  return 'is neither a date since 2000 nor a relative time of at most 30 days: give relative times in seconds, dates in seconds or milliseconds';
};

/**
 * A time as milliseconds: a date as seconds or milliseconds since 1970, or as RFC 3339; or a relative time, seconds
 * since any moment.
 */
export const instant = z.union([z.number(), z.string()], NO_TIME).transform((value, context) => {
  const isText = typeof value === 'string';
  const ms = isText ? (RFC_3339.test(value) ? Date.parse(value) : Number.NaN) : fromNumber(value);
  if (typeof ms === 'number' && Number.isFinite(ms)) return ms;
  const message = typeof ms === 'string' ? `${shown(value)} ${ms}` : NO_TIME.error({ input: value });
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

const isRelative = (ms: number): boolean => Math.abs(ms) <= LONGEST_RUN_S * 1000;

/** A missing value and null both mean unknown. */
export const orNull = <S extends z.ZodType>(schema: S) => schema.nullish().transform((value) => value ?? null);
const truth = z
  .union(
    [z.boolean(), z.literal(0), z.literal(1)],
    must('neither true nor false', 'true, false, 1 or 0, or leave it out'),
  )
  .transform(Boolean);
const flag = orNull(truth).transform((value) => value ?? false);
const text = orNull(z.string(must('no text', 'a text, or leave it out')));
/** A value that is only a name may be a number. */
export const name = orNull(
  z.union([z.string(), z.number()], must('no text', 'a text or a number, or leave it out')).transform(String),
);
const kinds = must('no kind', 'tool, model, external_api or checkpoint_write, or leave it out');
const outcomes = must('no outcome', 'ok, error or running, or leave it out');
const RUN_ID = 'a text such as "run-1"';

export const recordedCall = z.object(
  {
    tool: z.string(must('no text', 'the tool’s name')),
    args: orNull(z.unknown()),
    result: orNull(z.unknown()),
    /** null: unknown, and judged as false */
    err: orNull(truth),
    ts: orNull(instant),
    args_h: text,
    res_h: text,
    resn_h: text,
    call_id: name,
    kind: z.enum(['tool', 'model', 'external_api', 'checkpoint_write'], kinds).nullish(),
    outcome: orNull(z.enum(['ok', 'error', 'running'], outcomes)),
    error_class: name,
    started_at: orNull(instant),
    ended_at: orNull(instant),
    deadline_at: orNull(instant),
    /** null: not stated, and judged as false */
    mutating: orNull(truth),
    polling: orNull(truth),
    checking: orNull(truth),
    target: name,
    /** all tokens of the agent so far */
    token_count: orNull(z.int(must('no count', 'a whole number, or leave it out')).min(0)),
  },
  must('no call', 'an object with at least a tool'),
);

const TIMES = ['started_at', 'ts', 'ended_at', 'deadline_at'] as const;

const recordedRun = z
  .object(
    {
      run_id: z.string(must('no text', RUN_ID)).min(1, must('empty', RUN_ID)),
      src: name,
      /** the client and its version */
      agent: name,
      task: name,
      success: orNull(truth),
      label: name,
      /** whether something other than the agent ended the run, so that it does not claim to have finished */
      cut_off: flag,
      /** when the run ended; until then the time after its last call is judged */
      ended_at: orNull(instant),
      calls: z.array(recordedCall, must('no list', 'the list of the run’s calls')),
    },
    must('no run', 'an object with run_id and calls'),
  )
  .superRefine(({ calls, ended_at }, context) => {
    const times = [
      ...calls.flatMap((call, i) => TIMES.map((field) => ({ path: ['calls', i, field], ms: call[field] }))),
      { path: ['ended_at'], ms: ended_at },
    ].flatMap(({ path, ms }) => (ms === null ? [] : [{ path, ms }]));
    const other = times.find(({ ms }) => isRelative(ms) !== isRelative(times[0]?.ms ?? 0));
    if (other === undefined) return;
    const [one, two] = isRelative(other.ms) ? ['a relative time', 'a date'] : ['a date', 'a relative time'];
    const message = `is ${one}, and ${fieldOf(times[0]?.path ?? [])} is ${two}: give all times of a run in one way`;
    context.addIssue({ code: 'custom', path: other.path, message });
  });

/** One call of a recorded run; times in milliseconds. `ts`: when it was reported, which is its end. */
export type RecordedCall = z.output<typeof recordedCall>;
/** One recorded run: a line of JSON (README: recorded runs). `success`: the outcome that its task reports. */
export type RecordedRun = z.output<typeof recordedRun>;

/**
 * Hashes for the comparison of calls, made from the record in the same way as the agent's side makes them; null if
 * unknown.
 */
export type Hashing = (call: {
  readonly args?: unknown;
  readonly result?: unknown;
  readonly failed: boolean;
  /** epoch milliseconds; null: unknown */
  readonly endedAt: number | null;
}) => {
  readonly args_hash: string | null;
  readonly result_hash: string | null;
  /** of the result with all varying parts masked */
  readonly masked_result_hash: string | null;
};

/** The run cannot be read: `message` names each field and what is wrong with it. */
export class CorrectTheRun extends Error {
  override readonly name = 'CorrectTheRun';
}

/** The number of mistakes of one line that are named; the rest are counted. */
const NAMED = 5;

/** Parses a line of JSON as a run. Throws CorrectTheRun. */
export const readRun = (line: string): RecordedRun => readAs(recordedRun, fromJson(line));

/** Parses a value by a schema. Throws CorrectTheRun. */
export const readAs = <S extends z.ZodType>(schema: S, value: unknown): z.output<S> => {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const mistakes = read.error.issues.map(({ path, message }) => `${fieldOf(path)}: ${message}`);
  const more = mistakes.length > NAMED ? `; and ${mistakes.length - NAMED} more` : '';
  throw new CorrectTheRun(mistakes.slice(0, NAMED).join('; ') + more);
};

const fromJson = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new CorrectTheRun(`no JSON: ${(error as Error).message}`);
  }
};

const fieldOf = (path: readonly PropertyKey[]): string =>
  path.length === 0
    ? 'the line'
    : path
        .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
        .join('')
        .slice(1);
