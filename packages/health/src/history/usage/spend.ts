import type { TokenUsage } from '@vigil/events';
import { hash32 } from '../hash.ts';
import type { Heartbeat } from '../moment.ts';

/**
 * The number of models whose tokens are stored for one count. Further models count as an unknown model, which has no
 * price.
 */
export const MOST_MODELS = 8;
/** The longest name of a model. An inference profile of Bedrock has more than 100 characters. */
export const LONGEST_NAME = 200;

type Reported = {
  /** null: unknown */
  readonly tokens: number | null;
  /** by model; empty: unknown */
  readonly usage: readonly TokenUsage[];
  /** null: unknown */
  readonly costUsd: number | null;
};

/**
 * The present count of an instance, as last reported. An instance may have several counts, because each session of its
 * client counts from zero.
 */
export type Spend = Reported & {
  /** hash of the client's session; null: unknown */
  readonly session: number | null;
  /** the number of the count; a resumed session has the same number */
  readonly count: number;
  /** the time of the last heartbeat without a sequence that reported something new; 0 without one */
  readonly stamp: number;
};

export const NO_SPEND: Spend = { tokens: null, usage: [], costUsd: null, session: null, count: 0, stamp: 0 };

const named = (one: TokenUsage): TokenUsage => ({ ...one, model: one.model?.slice(0, LONGEST_NAME) ?? null });

const together = (all: readonly TokenUsage[]): TokenUsage => ({
  model: null,
  input_tokens: all.reduce((sum, one) => sum + one.input_tokens, 0),
  cache_read_tokens: all.reduce((sum, one) => sum + one.cache_read_tokens, 0),
  cache_write_tokens: all.reduce((sum, one) => sum + one.cache_write_tokens, 0),
  output_tokens: all.reduce((sum, one) => sum + one.output_tokens, 0),
});

const bounded = (usage: readonly TokenUsage[]): readonly TokenUsage[] =>
  usage.length <= MOST_MODELS
    ? usage.map(named)
    : [...usage.slice(0, MOST_MODELS - 1).map(named), together(usage.slice(MOST_MODELS - 1))];

/** A count of zero means unknown. */
const reportedBy = ({ token_count: tokens, usage, cost_usd: costUsd }: Heartbeat): Reported => ({
  tokens: tokens !== null && tokens > 0 ? tokens : null,
  usage: bounded(usage),
  costUsd,
});

const isUnknown = ({ tokens, usage, costUsd }: Reported): boolean =>
  tokens === null && usage.length === 0 && costUsd === null;

const totalOf = (usage: readonly TokenUsage[]): number | null => {
  if (usage.length === 0) return null;
  const { input_tokens, cache_read_tokens, cache_write_tokens, output_tokens } = together(usage);
  return input_tokens + cache_read_tokens + cache_write_tokens + output_tokens;
};

/**
 * Compares two counts by the first value that both contain: tokens, tokens by model, or money. Money may be corrected
 * while tokens continue to rise.
 */
const hasFallen = (before: Reported, now: Reported): boolean => {
  if (before.tokens !== null && now.tokens !== null) return now.tokens < before.tokens;
  const [was, is] = [totalOf(before.usage), totalOf(now.usage)];
  if (was !== null && is !== null) return is < was;
  return before.costUsd !== null && now.costUsd !== null && now.costUsd < before.costUsd;
};

const isSame = (one: TokenUsage, other: TokenUsage | undefined): boolean =>
  other !== undefined &&
  one.model === other.model &&
  one.input_tokens === other.input_tokens &&
  one.cache_read_tokens === other.cache_read_tokens &&
  one.cache_write_tokens === other.cache_write_tokens &&
  one.output_tokens === other.output_tokens;

const isSameUsage = (one: readonly TokenUsage[], other: readonly TokenUsage[]): boolean =>
  one.length === other.length && one.every((tokens, i) => isSame(tokens, other[i]));

/** An unknown value keeps its previous one. */
const merged = (before: Spend, now: Reported): Reported => {
  const isKnown = now.usage.length > 0 && !isSameUsage(now.usage, before.usage);
  return {
    tokens: now.tokens ?? before.tokens,
    usage: isKnown ? now.usage : before.usage,
    costUsd: now.costUsd ?? before.costUsd,
  };
};

const isNews = (before: Spend, now: Reported): boolean =>
  now.tokens !== before.tokens || now.usage !== before.usage || now.costUsd !== before.costUsd;

/**
 * The session that a count without a session id turns out to belong to; null if there is none. From then on the count
 * has that session's number.
 */
export const namedSince = (before: Spend, { session, count }: Spend): number | null =>
  before.session === null && count === before.count ? session : null;

/**
 * A count belongs to one session. If the client reports no session id, a lower count belongs to another session. Within
 * a session with an id, a lower count is a correction, because another source counts the same tokens.
 */
export const spendAfter = (before: Spend, heartbeat: Heartbeat): Spend => {
  const id = heartbeat.client?.session_id ?? null;
  const session = id === null ? before.session : hash32(id);
  const now = reportedBy(heartbeat);
  const stamp = heartbeat.sequence === null ? heartbeat.timestamp : before.stamp;
  if (session !== before.session) {
    const isFirst = before.session === null && !isUnknown(before);
    return isFirst && !hasFallen(before, now)
      ? { ...before, ...merged(before, now), session, stamp }
      : { ...now, session, count: session ?? before.count, stamp };
  }
  if (session === null && hasFallen(before, now)) {
    // An earlier heartbeat without a sequence is late, and does not belong to another session.
    const isLate = heartbeat.sequence === null && heartbeat.timestamp <= before.stamp;
    return isLate ? before : { ...now, session, count: before.count + 1, stamp };
  }
  const after = merged(before, now);
  return isNews(before, after) ? { ...before, ...after, stamp } : before;
};
