import type { SessionFact } from '../session/events.ts';
import { isTransientStatus, isTransientText, retryAtLocal, retryAtOf, statusIn } from '../shared/failure.ts';
import { at, isFields, numberAt, textAt } from '../shared/payload.ts';

const resetOf = (window: unknown, when: number): number | null => {
  const epoch = numberAt(window, 'resets_at');
  if (epoch !== null) return epoch * 1000;
  // Earlier versions write the remaining time.
  const seconds = numberAt(window, 'resets_in_seconds');
  return seconds === null ? null : when + seconds * 1000;
};

/**
 * When the account's used-up limits end, in epoch milliseconds, by the `rate_limits` of a `token_count` event; null:
 * no limit is used up.
 * `before`: the previous value; an event may come without limits.
 */
export const limitedUntilIn = (limits: unknown, when: number, before: number | null): number | null => {
  const windows = [at(limits, 'primary'), at(limits, 'secondary')].filter(isFields);
  if (windows.length === 0) return before;
  const resets = windows.flatMap((window) => {
    const reset = (numberAt(window, 'used_percent') ?? 0) >= 100 ? resetOf(window, when) : null;
    return reset !== null && reset > when ? [reset] : [];
  });
  return resets.length === 0 ? null : Math.max(...resets);
};

/**
 * Names of errors of Codex and of the API that pass. Any other name except `error` is of an error that does not pass.
 */
const PASSING: ReadonlySet<string> = new Set([
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

const namedStatus = (info: unknown): number | null => {
  if (!isFields(info)) return null;
  const statuses = Object.values(info).map((one) => numberAt(one, 'http_status_code'));
  return statuses.find((status) => status !== null) ?? null;
};

const codeIn = (message: string): string | null => /"(?:code|type)":\s*"([a-z_]{3,60})"/.exec(message)?.[1] ?? null;

const nameOf = (info: unknown): string | null => {
  if (typeof info === 'string') return info === 'other' ? null : info;
  return isFields(info) ? (Object.keys(info)[0] ?? null) : null;
};

/** A short name of an error: its HTTP status, the code in its message, or Codex's own name. */
const classOf = (message: string, info: unknown): string => {
  const status = namedStatus(info) ?? statusIn(message);
  if (status !== null) return `api_${status}`;
  return codeIn(message) ?? nameOf(info) ?? 'error';
};

/** Whether an error passes. Codex's name decides, then the status, then the code in the message, and else the text. */
const passesBy = (message: string, info: unknown): boolean => {
  const name = nameOf(info);
  if (name !== null && typeof info === 'string') return PASSING.has(name);
  const status = namedStatus(info) ?? statusIn(message);
  if (status !== null) return isTransientStatus(status);
  const code = name ?? codeIn(message);
  return code === null ? isTransientText(message) : PASSING.has(code);
};

/** Classes of errors that a limit of the account causes. */
const OF_ACCOUNT = /usage_limit|rate_limit|^api_429$/;

/** Data that an error itself does not contain. */
export type ErrorContext = {
  /** the name of the machine's time zone */
  readonly zone: () => string;
  /** when the account's used-up limits end; null if none is used up, or if that is unknown */
  readonly limitedUntil: number | null;
};

/** The end of a turn by an error, from `codex exec --json` and from a rollout. */
export const turnFailed = (error: unknown, now: number, { zone, limitedUntil }: ErrorContext): SessionFact => {
  const message = textAt(error, 'message') ?? '';
  const info = at(error, 'codex_error_info');
  const passes = passesBy(message, info);
  const errorClass = classOf(message, info);
  if (!passes) return { kind: 'turn_failed', errorClass, passes, retryAt: null };
  const known = OF_ACCOUNT.test(errorClass) ? limitedUntil : null;
  const retryAt = known ?? retryAtOf(message, now) ?? retryAtLocal(message, now, zone);
  return { kind: 'turn_failed', errorClass, passes, retryAt };
};
