// Generated from packages/adapters/src/gemini-cli/failure.ts by `npm run generate`: for Node 18, which reads no TypeScript.
import { headOf } from '../shared/calls.mjs';
import { passesByStatus, passesByWords, statusIn } from '../shared/passing.mjs';
import { retryAtOf } from '../shared/retry-at.mjs';
/** Google's names of errors (google.rpc.Code). */
const LASTING = /\b(?:INVALID_ARGUMENT|FAILED_PRECONDITION|PERMISSION_DENIED|UNAUTHENTICATED|NOT_FOUND|OUT_OF_RANGE)\b/;
const PASSING = /\b(?:RESOURCE_EXHAUSTED|UNAVAILABLE|DEADLINE_EXCEEDED|INTERNAL)\b/;
const passesBy = (message        )          => {
  const status = statusIn(message);
  if (status !== null) return passesByStatus(status);
  if (LASTING.test(headOf(message))) return false;
  return PASSING.test(headOf(message)) || passesByWords(message);
};
/** The end of a turn by an error. */
export const turnFailed = (errorClass        , message        , now        )              => {
  const passes = passesBy(message);
  return { kind: 'turn_failed', errorClass, message: null, passes, retryAt: passes ? retryAtOf(message, now) : null };
};
