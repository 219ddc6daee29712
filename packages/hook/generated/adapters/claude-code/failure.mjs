// Generated from packages/adapters/src/claude-code/failure.ts by `npm run generate`: for Node 18, which reads no TypeScript.
import { passesByStatus, passesByWords, statusIn } from '../shared/passing.mjs';
import { retryAtOf } from '../shared/retry-at.mjs';
/** Errors after which the same request may succeed. Claude Code has repeated the request before it reports one. */
const PASSING                      = new Set(['rate_limit', 'overloaded', 'server_error']);
/** Claude Code does not name the error: its status decides, and without one its words. */
const passesByText = (text        )          => {
  const status = statusIn(text);
  return status === null ? passesByWords(text) : passesByStatus(status);
};
export const turnFailed = (errorClass        , text        , now        )              => {
  const passes = PASSING.has(errorClass) || (errorClass === 'unknown' && passesByText(text));
  return { kind: 'turn_failed', errorClass, message: null, passes, retryAt: passes ? retryAtOf(text, now) : null };
};
