import type { SessionFact } from '../session/events.ts';
import { isTransientStatus, isTransientText, retryAtOf, statusIn } from '../shared/failure.ts';

/** Errors after which the same request may succeed. Claude Code has repeated the request before it reports one. */
const PASSING: ReadonlySet<string> = new Set(['rate_limit', 'overloaded', 'server_error']);

/** Claude Code does not name the error: its status decides, and without one its words. */
const passesByText = (text: string): boolean => {
  const status = statusIn(text);
  return status === null ? isTransientText(text) : isTransientStatus(status);
};

export const turnFailed = (errorClass: string, text: string, now: number): SessionFact => {
  const passes = PASSING.has(errorClass) || (errorClass === 'unknown' && passesByText(text));
  return { kind: 'turn_failed', errorClass, passes, retryAt: passes ? retryAtOf(text, now) : null };
};
