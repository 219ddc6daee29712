// Generated from packages/adapters/src/codex/failure.ts by `npm run generate`: for Node 18, which reads no TypeScript.
import { passesByStatus, passesByWords, statusIn } from '../shared/passing.mjs';
import { at, isFields, numberAt, textAt } from '../shared/payload.mjs';
import { retryAtLocal, retryAtOf } from '../shared/retry-at.mjs';
/** Names of errors by Codex and by the API. Any other name but `error` is of one that does not pass. */
const PASSING                      = new Set([
  'usage_limit_exceeded',
  'usage_limit_reached',
  'rate_limit_exceeded',
  'rate_limit_error',
  'server_overloaded',
  'server_is_overloaded',
  'overloaded_error',
  'slow_down',
  'internal_server_error',
  'server_error',
  'api_error',
  'http_connection_failed',
  'response_stream_connection_failed',
  'response_stream_disconnected',
  'response_too_many_failed_attempts',
]);
const namedStatus = (info         )                => {
  if (!isFields(info)) return null;
  const statuses = Object.values(info).map((one) => numberAt(one, 'http_status_code'));
  return statuses.find((status) => status !== null) ?? null;
};
const codeIn = (message        )                => /"(?:code|type)":\s*"([a-z_]{3,60})"/.exec(message)?.[1] ?? null;
const nameOf = (info         )                => {
  if (typeof info === 'string') return info === 'other' ? null : info;
  return isFields(info) ? (Object.keys(info)[0] ?? null) : null;
};
/** A short name of an error: its HTTP status, the code in its message, or Codex' own name of it. */
const classOf = (message        , info         )         => {
  const status = namedStatus(info) ?? statusIn(message);
  if (status !== null) return `api_${status}`;
  return codeIn(message) ?? nameOf(info) ?? 'error';
};
/** What Codex names decides, then the status, then the code in the message; without any of them the words do. */
const passesBy = (message        , info         )          => {
  const name = nameOf(info);
  if (name !== null && typeof info === 'string') return PASSING.has(name);
  const status = namedStatus(info) ?? statusIn(message);
  if (status !== null) return passesByStatus(status);
  const code = name ?? codeIn(message);
  return code === null ? passesByWords(message) : PASSING.has(code);
};
/** Classes of errors that a limit of the account causes. */
const OF_ACCOUNT = /usage_limit|rate_limit|^api_429$/;
/** What an error does not name itself. */
/** The end of a turn by an error, from `codex exec --json` and from a rollout. */
export const turnFailed = (error         , now        , { zone, limitedUntil }              )              => {
  const message = textAt(error, 'message') ?? '';
  const info = at(error, 'codex_error_info');
  const passes = passesBy(message, info);
  const errorClass = classOf(message, info);
  if (!passes) return { kind: 'turn_failed', errorClass, message: null, passes, retryAt: null };
  const known = OF_ACCOUNT.test(errorClass) ? limitedUntil : null;
  const retryAt = known ?? retryAtOf(message, now) ?? retryAtLocal(message, now, zone);
  return { kind: 'turn_failed', errorClass, message: null, passes, retryAt };
};
