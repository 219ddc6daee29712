import { z } from 'zod';

/** From here a number is milliseconds, below it seconds: 1e11 seconds lie three thousand years ahead, 1e11 milliseconds long ago. */
const MILLISECONDS_FROM = 1e11;
const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)$/;

/** Seconds, epoch milliseconds or RFC 3339 as milliseconds. */
const instant = z.union([z.number(), z.string()]).transform((value, context) => {
  const ms = typeof value === 'number' ? fromNumber(value) : RFC_3339.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isFinite(ms)) return ms;
  context.addIssue({
    code: 'custom',
    message: `${JSON.stringify(value)} is no time: give seconds, or RFC 3339 such as 2026-11-22T04:00:00Z`,
  });
  return z.NEVER;
});

const fromNumber = (value: number): number => Math.round(Math.abs(value) < MILLISECONDS_FROM ? value * 1000 : value);

/** What is missing, and what is null, is unknown alike. */
const orNull = <S extends z.ZodType>(schema: S) => schema.nullish().transform((value) => value ?? null);
const flag = orNull(z.boolean()).transform((value) => value ?? false);

const recordedCall = z.object({
  tool: z.string(),
  args: orNull(z.unknown()),
  result: orNull(z.unknown()),
  err: flag,
  ts: orNull(instant),
  args_h: orNull(z.string()),
  res_h: orNull(z.string()),
  resn_h: orNull(z.string()),
  call_id: orNull(z.string()),
  kind: z.enum(['tool', 'model', 'external_api', 'checkpoint_write']).nullish(),
  outcome: orNull(z.enum(['ok', 'error', 'running'])),
  error_class: orNull(z.string()),
  started_at: orNull(instant),
  ended_at: orNull(instant),
  deadline_at: orNull(instant),
  mutating: flag,
  polling: flag,
  target: orNull(z.string()),
});

const recordedRun = z.object({
  run_id: z.string().min(1),
  src: orNull(z.string()),
  task: orNull(z.string()),
  success: orNull(z.boolean()),
  label: orNull(z.string()),
  calls: z.array(recordedCall),
});

/** One call of a recorded run; times in milliseconds. `ts`: when it was reported, which is when it was over. */
export type RecordedCall = z.output<typeof recordedCall>;
/** One recorded run: a line of JSON (README: recorded runs). `success`: its task's own verdict. */
export type RecordedRun = z.output<typeof recordedRun>;

/** What calls are compared by, made of what was recorded, as the agent's side makes it; null: unknown. */
export type Hashing = (call: { readonly args?: unknown; readonly result?: unknown }) => {
  readonly args_hash: string | null;
  readonly result_hash: string | null;
  /** of the result with all masked that varies from call to call */
  readonly masked_result_hash: string | null;
};

/** The run cannot be read: `message` names each field and what is wrong with it. */
export class CorrectTheRun extends Error {
  override readonly name = 'CorrectTheRun';
}

/** Mistakes of one line that are named; the rest is counted. */
const NAMED = 5;

/** A line of JSON as a run. Throws CorrectTheRun. */
export function readRun(line: string): RecordedRun {
  const read = recordedRun.safeParse(fromJson(line));
  if (read.success) return read.data;
  const mistakes = read.error.issues.map(({ path, message }) => `${fieldOf(path)}: ${message}`);
  const more = mistakes.length > NAMED ? `; and ${mistakes.length - NAMED} more` : '';
  throw new CorrectTheRun(mistakes.slice(0, NAMED).join('; ') + more);
}

function fromJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new CorrectTheRun(`no JSON: ${(error as Error).message}`);
  }
}

const fieldOf = (path: readonly PropertyKey[]): string =>
  path.length === 0
    ? 'the line'
    : path
        .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
        .join('')
        .slice(1);
