import type { Activity } from '@vigil/events';
import { ahead, type Heartbeat, type Receipt } from '../moment.ts';
import { rateLimited } from './calls.ts';

/**
 * No usage limit lasts longer than a week. A later reset is a mistake, such as microseconds in place of milliseconds.
 */
const LONGEST_LIMIT_MS = 7 * 24 * 3_600_000;

/** The longest time between two limits of a row. Rarer ones hide no absence, because only their time is left out. */
const ROW_GAP_MS = 120_000;

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
  /**
   * the first of a row of limits without a reset, on `now`'s axis; absent: it is alone. Progress, and two minutes without
   * a limit, end a row
   */
  readonly rowAt?: number;
  /** the mark of the first of limits that follow each other so, with or without a reset; absent: `mark` */
  readonly began?: number;
} | null;

/** The agent beside a report of a limit: its activity before, and its last progress, on `now`'s axis. */
export type BesideLimit = { readonly activity: Activity | null; readonly progressAt: number };

export const rateLimitAfter = (
  before: RateLimit,
  beside: BesideLimit,
  heartbeat: Heartbeat,
  receipt: Receipt,
): RateLimit => {
  const isReportedNow =
    isReported(heartbeat) || (repeatsState(heartbeat) && !isRepeated(before, beside.activity, heartbeat));
  return isReportedNow ? limitedBy(before, beside.progressAt, heartbeat, receipt) : before;
};

/**
 * Applies a rate limit that this heartbeat reports. The same reset is the same report, because a session may name it
 * long after it is over. A report without a reset does not shorten a known one.
 */
export const limitedBy = (
  before: RateLimit,
  progressAt: number,
  heartbeat: Heartbeat,
  receipt: Receipt,
): NonNullable<RateLimit> => {
  const sent = heartbeat.rate_limit?.retry_at ?? null;
  if (before !== null && sent !== null && sent === before.sentRetry) return before;
  if (before !== null && sent === null && before.retryAt !== null && before.retryAt > receipt.now) return before;
  const follows =
    before !== null && progressAt <= before.at && receipt.now - (before.retryAt ?? before.at) <= ROW_GAP_MS;
  const isInRow = follows && sent === null && before.retryAt === null;
  return {
    ...(isInRow && { rowAt: before.rowAt ?? before.at }),
    ...(follows && { began: before.began ?? before.mark }),
    at: receipt.now,
    mark: receipt.watched,
    retryAt: sent === null ? null : Math.min(ahead(receipt, sent), receipt.now + LONGEST_LIMIT_MS),
    sentRetry: sent,
    sentEvent: heartbeat.turn?.last_event_at ?? null,
  };
};

const isReported = (heartbeat: Heartbeat): boolean =>
  (heartbeat.rate_limit !== null && heartbeat.rate_limit.retry_at !== null) ||
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

/** A limit that is reported as a state, not as an event. Heartbeats repeat it. */
const repeatsState = ({ activity, rate_limit: limit }: Heartbeat): boolean =>
  activity === 'rate_limited' || limit !== null;

/**
 * Whether the heartbeat repeats an old state: the client has reported nothing since the limit or, without turns, the
 * agent was limited before.
 */
const isRepeated = (before: RateLimit, activity: Activity | null, { turn }: Heartbeat): boolean => {
  if (before === null) return false;
  return turn === null ? activity === 'rate_limited' : turn.last_event_at === before.sentEvent;
};

/**
 * Until when the last reported limit excuses the agent. Without a reset that is `forMs` after the report, and at most
 * `longestMs` after the first of a row.
 */
export const limitExcusesUntil = (limit: NonNullable<RateLimit>, forMs: number, longestMs: number): number =>
  limit.retryAt ?? Math.min(limit.at + forMs, (limit.rowAt ?? limit.at) + longestMs);

/** When the last reported limit is over: `retry_at`, or `forMs` after the report. */
export const limitedUntil = (limit: NonNullable<RateLimit>, forMs: number): number => limit.retryAt ?? limit.at + forMs;
