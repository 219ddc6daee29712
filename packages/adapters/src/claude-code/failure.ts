import type { SessionFact } from '../session/events.ts';
import { isTransientStatus, isTransientText, retryAtOf, statusIn } from '../shared/failure.ts';

/** Errors after which the same request may succeed. Claude Code retries the request before it reports one. */
const PASSING: ReadonlySet<string> = new Set(['rate_limit', 'overloaded', 'server_error']);

/** For an error without a name, its status decides, and without a status its text. */
const passesByText = (text: string): boolean => {
  const status = statusIn(text);
  return status === null ? isTransientText(text) : isTransientStatus(status);
};

export const turnFailed = (errorClass: string, text: string, now: number): SessionFact => {
  const passes = PASSING.has(errorClass) || (errorClass === 'unknown' && passesByText(text));
  return { kind: 'turn_failed', errorClass, passes, retryAt: passes ? retryAtOf(text, now) : null };
};
