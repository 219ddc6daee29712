import type { Meaning } from '@vigil/circuit-breaker';
import { LONGEST, text } from '../report/fields.ts';

/** The field of that name of any thrown value; undefined if its getter throws. */
const fieldOf = (error: unknown, name: string): unknown => {
  try {
    return (error as Record<string, unknown> | null | undefined)?.[name];
  } catch {
    return undefined;
  }
};

/** 429, and 529, with which a model's provider reports that it is overloaded. */
const LIMITED: ReadonlySet<unknown> = new Set([429, 529]);
const TIMED_OUT: ReadonlySet<unknown> = new Set([
  'TimeoutError',
  'ETIMEDOUT',
  'ESOCKETTIMEDOUT',
  'UND_ERR_HEADERS_TIMEOUT',
]);
const ABORTED: ReadonlySet<unknown> = new Set(['AbortError', 'ABORT_ERR']);

/**
 * The class that an error counts under: `rate_limit`, `timeout` and `aborted` for every client, else its code, else
 * its name.
 */
export const errorClass = (error: unknown): string => {
  const [code, name] = [fieldOf(error, 'code'), fieldOf(error, 'name')];
  if (LIMITED.has(fieldOf(error, 'status')) || LIMITED.has(fieldOf(error, 'statusCode'))) return 'rate_limit';
  if (TIMED_OUT.has(code) || TIMED_OUT.has(name)) return 'timeout';
  if (ABORTED.has(code) || ABORTED.has(name)) return 'aborted';
  const label = typeof code === 'string' ? code : name;
  return text(typeof label === 'string' ? label : typeof error, LONGEST.short) ?? 'Error';
};

/** The caller's rate limit, a cancellation or another breaker's refusal: none of them shows that the tool fails. */
const NO_FAILURES: ReadonlySet<string> = new Set(['rate_limit', 'aborted', 'BreakerOpen']);
export const meaningOf = (classOfError: string): Meaning => (NO_FAILURES.has(classOfError) ? 'nothing' : 'failure');

export const messageOf = (error: unknown): string | null =>
  text(fieldOf(error, 'message') ?? (typeof error === 'string' ? error : null), LONGEST.message);

/** The thrown value as a text for people. Never throws, for any value. */
export const describeError = (error: unknown): string => {
  try {
    return String(error);
  } catch {
    return 'something that has no words';
  }
};
