import type { SessionFact } from '../session/events.ts';
import { headOf } from '../shared/calls.ts';
import { isTransientStatus, isTransientText, retryAtOf, statusIn } from '../shared/failure.ts';

/** Google's names of errors (google.rpc.Code). */
const LASTING = /\b(?:INVALID_ARGUMENT|FAILED_PRECONDITION|PERMISSION_DENIED|UNAUTHENTICATED|NOT_FOUND|OUT_OF_RANGE)\b/;
const PASSING = /\b(?:RESOURCE_EXHAUSTED|UNAVAILABLE|DEADLINE_EXCEEDED|INTERNAL)\b/;

const passesBy = (message: string): boolean => {
  const status = statusIn(message);
  if (status !== null) return isTransientStatus(status);
  if (LASTING.test(headOf(message))) return false;
  return PASSING.test(headOf(message)) || isTransientText(message);
};

/** The end of a turn by an error. */
export const turnFailed = (errorClass: string, message: string, now: number): SessionFact => {
  const passes = passesBy(message);
  return { kind: 'turn_failed', errorClass, passes, retryAt: passes ? retryAtOf(message, now) : null };
};
