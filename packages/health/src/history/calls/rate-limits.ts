import { ahead, type Heartbeat, type Receipt } from '../moment.ts';
import { rateLimited } from './calls.ts';

/**
 * No usage limit lasts longer than a week. A later reset is a mistake, such as microseconds in place of milliseconds.
 */
const LONGEST_LIMIT_MS = 7 * 24 * 3_600_000;

/** The last report of a rate limit; null: none. */
export type RateLimit = {
  readonly at: number;
  readonly mark: number;
  /** on `now`'s axis; null: not reported */
  readonly retryAt: number | null;
  /**
   * `retry_at`, and the client's last event at the report of the limit, as sent; compared only with their own later
   * values
   */
  readonly sentRetry: number | null;
  readonly sentEvent: number | null;
} | null;

export const rateLimitAfter = (before: RateLimit, heartbeat: Heartbeat, receipt: Receipt): RateLimit => {
  const isReportedNow =
    isReported(heartbeat) || (heartbeat.activity === 'rate_limited' && !isRepeated(before, heartbeat));
  return isReportedNow ? limitedBy(before, heartbeat, receipt) : before;
};

/**
 * Applies a rate limit that this heartbeat reports. The same reset is the same report, because a session may name it
 * long after it is over. A report without a reset does not shorten a known one.
 */
export const limitedBy = (before: RateLimit, heartbeat: Heartbeat, receipt: Receipt): NonNullable<RateLimit> => {
  const sent = heartbeat.rate_limit?.retry_at ?? null;
  if (before !== null && sent !== null && sent === before.sentRetry) return before;
  if (before !== null && sent === null && before.retryAt !== null && before.retryAt > receipt.now) return before;
  return {
    at: receipt.now,
    mark: receipt.watched,
    retryAt: sent === null ? null : Math.min(ahead(receipt, sent), receipt.now + LONGEST_LIMIT_MS),
    sentRetry: sent,
    sentEvent: heartbeat.turn?.last_event_at ?? null,
  };
};

const isReported = (heartbeat: Heartbeat): boolean =>
  heartbeat.rate_limit !== null ||
  heartbeat.tool_calls.some(rateLimited) ||
  heartbeat.errors.some((error) => error.error_class === 'rate_limit') ||
  isReadInOutput(heartbeat);

/**
 * A text counts only if it is newer than the calls that succeeded beside it. An agent whose call succeeds after the text
 * continues, and the text may be what that call read.
 */
const isReadInOutput = ({ output, tool_calls: calls }: Heartbeat): boolean => {
  const succeededAt = calls
    .filter(({ outcome }) => outcome === 'ok')
    .reduce((last, { ended_at: at }) => Math.max(last, at ?? Number.POSITIVE_INFINITY), Number.NEGATIVE_INFINITY);
  return output?.matched_patterns.some(({ kind, at }) => kind === 'rate_limit' && at > succeededAt) ?? false;
};

/** Whether the client has reported nothing since the limit, so that the heartbeat repeats an old activity. */
const isRepeated = (before: RateLimit, { turn }: Heartbeat): boolean =>
  before !== null && turn !== null && turn.last_event_at === before.sentEvent;

/** When the last reported limit is over: `retry_at`, or `forMs` after the report. */
export const limitedUntil = (limit: NonNullable<RateLimit>, forMs: number): number => limit.retryAt ?? limit.at + forMs;
