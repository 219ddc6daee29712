import { rateLimited } from './calls.ts';
import { ahead, type Beat, type Fold, type Receipt } from './moment.ts';

/** The last report of a rate limit; null: none. `retryAt` on `now`'s axis, null where nobody said when. */
export type RateLimit = { readonly at: number; readonly mark: number; readonly retryAt: number | null } | null;

export const rateLimits: Fold<RateLimit> = {
  initial: () => null,
  observe: (before, beat, receipt) => (reported(beat) ? limitedBy(beat, receipt) : before),
  largestBytes: 80,
};

/** A rate limit that this heartbeat tells of. */
export function limitedBy(beat: Beat, receipt: Receipt): NonNullable<RateLimit> {
  const retryAt = beat.rate_limit?.retry_at ?? null;
  return { at: receipt.now, mark: receipt.watched, retryAt: retryAt === null ? null : ahead(receipt, retryAt) };
}

function reported(beat: Beat): boolean {
  return (
    beat.rate_limit !== null ||
    beat.activity === 'rate_limited' ||
    beat.tool_calls.some(rateLimited) ||
    beat.errors.some((error) => error.error_class === 'rate_limit') ||
    (beat.output?.matched_patterns.some((pattern) => pattern.kind === 'rate_limit') ?? false)
  );
}

/** When the last reported limit is over: `retry_at`, or `forMs` after the report. */
export function limitedUntil(limit: NonNullable<RateLimit>, forMs: number): number {
  return limit.retryAt ?? limit.at + forMs;
}
