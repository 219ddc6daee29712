import type { Meaning } from '@vigil/circuit-breaker';
import { LONGEST, text } from './fields.ts';

/** Of whatever was thrown, the field of that name; a getter that throws has none. */
const fieldOf = (error: unknown, name: string): unknown => {
  try {
    return (error as Record<string, unknown> | null | undefined)?.[name];
  } catch {
    return undefined;
  }
};

/** 429, and 529, with which a model's provider says that it is overloaded. */
const LIMITED: ReadonlySet<unknown> = new Set([429, 529]);
const TIMED_OUT: ReadonlySet<unknown> = new Set([
  'TimeoutError',
  'ETIMEDOUT',
  'ESOCKETTIMEDOUT',
  'UND_ERR_HEADERS_TIMEOUT',
]);
const ABORTED: ReadonlySet<unknown> = new Set(['AbortError', 'ABORT_ERR']);

/** How an error is counted: `rate_limit`, `timeout` and `aborted` whoever throws it, else its code, else its name. */
export const errorClass = (error: unknown): string => {
  const [code, name] = [fieldOf(error, 'code'), fieldOf(error, 'name')];
  if (LIMITED.has(fieldOf(error, 'status')) || LIMITED.has(fieldOf(error, 'statusCode'))) return 'rate_limit';
  if (TIMED_OUT.has(code) || TIMED_OUT.has(name)) return 'timeout';
  if (ABORTED.has(code) || ABORTED.has(name)) return 'aborted';
  const said = typeof code === 'string' ? code : name;
  return text(typeof said === 'string' ? said : typeof error, LONGEST.short) ?? 'Error';
};

/** A limit of the caller's, its change of mind, another breaker's refusal: they say nothing about whether the tool works. */
const NO_FAILURES: ReadonlySet<string> = new Set(['rate_limit', 'aborted', 'BreakerOpen']);
export const meaningOf = (classOfError: string): Meaning => (NO_FAILURES.has(classOfError) ? 'nothing' : 'failure');

export const messageOf = (error: unknown): string | null =>
  text(fieldOf(error, 'message') ?? (typeof error === 'string' ? error : null), LONGEST.message);

/** For people; whatever was thrown, this throws nothing. */
export const inWords = (error: unknown): string => {
  try {
    return String(error);
  } catch {
    return 'something that has no words';
  }
};
