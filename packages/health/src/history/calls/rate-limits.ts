import type { Activity } from '@vigil/events';
import { NEVER } from '@vigil/stream';
import { ahead, type Heartbeat, placed, type Receipt } from '../moment.ts';
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
  /** when later work showed that the limit is over, on `now`'s axis; absent: none has */
  readonly overAt?: number;
  /** of a limit that is over: each heartbeat since has named its reset; absent: one has not */
  readonly isNamed?: true;
} | null;

/**
 * The agent beside a report of a limit: its activity before, its last progress on `now`'s axis, and the mark of its last
 * use of tokens (0: none).
 */
export type BesideLimit = {
  readonly activity: Activity | null;
  readonly progressAt: number;
  readonly usedTokens: number;
};

export const rateLimitAfter = (
  before: RateLimit,
  beside: BesideLimit,
  heartbeat: Heartbeat,
  receipt: Receipt,
): RateLimit => {
  const isFirst = repeatsState(heartbeat) && !isRepeated(before, beside.activity, heartbeat);
  const isNew = isEvent(heartbeat) || (isFirst && heartbeat.activity === 'rate_limited');
  const isReported = isNew || isFirst || namesReset(heartbeat);
  const limit = isReported ? limitedBy(before, isNew, beside.progressAt, heartbeat, receipt) : before;
  if (limit === null || limit !== before || isNew) return limit;
  if (limit.overAt === undefined)
    return isOver(limit, beside, heartbeat, receipt) ? over(limit, heartbeat, receipt) : limit;
  return limit.isNamed && !namesReset(heartbeat) ? notNamed(limit) : limit;
};

const over = (limit: NonNullable<RateLimit>, heartbeat: Heartbeat, { now }: Receipt): RateLimit => ({
  ...limit,
  overAt: now,
  ...(namesReset(heartbeat) && { isNamed: true as const }),
});

const notNamed = ({ isNamed: _, ...limit }: NonNullable<RateLimit>): RateLimit => limit;

/**
 * Whether later work shows that the limit is over: a call that began after its report and succeeded, or a turn that did
 * and used tokens. A call that ran beside the report shows nothing, nor does one whose start is unknown.
 */
const isOver = (
  { at, mark }: NonNullable<RateLimit>,
  { usedTokens }: BesideLimit,
  { tool_calls: calls, turn, activity }: Heartbeat,
  receipt: Receipt,
): boolean => {
  const isLater = (started: number | null): boolean => started !== null && placed(receipt, started) > at;
  if (calls.some(({ outcome, started_at }) => outcome === 'ok' && isLater(started_at))) return true;
  if (turn === null || turn.open || turn.started_at === null || !isLater(turn.started_at)) return false;
  const startedFor = placed(receipt, turn.started_at) - at;
  return activity !== 'blocked' && activity !== 'rate_limited' && usedTokens > mark + startedFor;
};

/**
 * Applies a rate limit that this heartbeat reports. The same reset is the same report, because a session may name it
 * long after it is over. `isNew`: whether it reports the limit as an event, or as a state that it did not have before.
 * A report without a reset does not shorten a known one.
 */
export const limitedBy = (
  before: RateLimit,
  isNew: boolean,
  progressAt: number,
  heartbeat: Heartbeat,
  receipt: Receipt,
): NonNullable<RateLimit> => {
  const sent = heartbeat.rate_limit?.retry_at ?? null;
  if (before !== null && sent !== null && sent === before.sentRetry && !isAgain(before, isNew, receipt)) return before;
  const isKnown = before !== null && before.overAt === undefined && before.retryAt !== null;
  if (isKnown && sent === null && before.retryAt > receipt.now) return before;
  const follows =
    before !== null && progressAt <= before.at && receipt.now - (before.retryAt ?? before.at) <= ROW_GAP_MS;
  const isInRow = follows && sent === null && before.retryAt === null;
  return {
    ...(isInRow && { rowAt: before.rowAt ?? before.at }),
    ...(follows && before.overAt === undefined && { began: before.began ?? before.mark }),
    at: receipt.now,
    mark: receipt.watched,
    retryAt: sent === null ? null : Math.min(ahead(receipt, sent), receipt.now + LONGEST_LIMIT_MS),
    sentRetry: sent,
    sentEvent: heartbeat.turn?.last_event_at ?? null,
  };
};

/** Whether a limit that was over holds again, until the same reset. */
const isAgain = ({ overAt, isNamed, retryAt }: NonNullable<RateLimit>, isNew: boolean, { now }: Receipt): boolean =>
  overAt !== undefined && (isNew || isNamed !== true) && retryAt !== null && retryAt > now;

const namesReset = ({ rate_limit: limit }: Heartbeat): boolean => limit !== null && limit.retry_at !== null;

const isEvent = (heartbeat: Heartbeat): boolean =>
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
  Math.min(limitedUntil(limit, forMs), limit.retryAt === null ? (limit.rowAt ?? limit.at) + longestMs : NEVER);

/** When the last reported limit is over: `retry_at`, or `forMs` after the report; or when later work showed it. */
export const limitedUntil = ({ at, retryAt, overAt = NEVER }: NonNullable<RateLimit>, forMs: number): number =>
  Math.min(overAt, retryAt ?? at + forMs);
