import type { ToolCall } from '@vigil/events';
import { finished, rateLimited } from './calls.ts';
import { instant, type Receipt } from './moment.ts';
import { type CallNews, type News, signature } from './news.ts';

/** The longest cycle that is looked for (S4 goes to five). */
export const MAX_CYCLE = 5;
const NONE: readonly number[] = [0, 0, 0, 0, 0];

/**
 * Repetition, counted as it goes. At [p − 1] stands the period p: `same` is how many calls in a row equalled the one p before,
 * `top` the most repetitions since the last progress, which is what ends a repetition.
 */
export type Track = {
  readonly recent: readonly number[];
  readonly same: readonly number[];
  readonly top: readonly number[];
};

/** `masked`: the same of results in which what varies from call to call is masked. */
export type Runs = Track & {
  readonly masked: Track;
  readonly tool: string | null;
  /** when `top` last grew, on `now`'s axis */
  readonly at: number;
  /** the first call of the current run, and whether all of it polls */
  readonly since: number;
  readonly polling: boolean;
};

const NO_TRACK: Track = { recent: [], same: NONE, top: NONE };

export const NO_RUNS: Runs = {
  ...NO_TRACK,
  masked: NO_TRACK,
  tool: null,
  at: 0,
  since: 0,
  polling: false,
};

export const largestRunsBytes: number = 500;

export function runsAfter(runs: Runs, news: News, receipt: Receipt): Runs {
  let after = news.declared ? NO_RUNS : runs;
  for (const one of news.calls) {
    if (!finished(one.call) || rateLimited(one.call)) continue;
    after = repeated(after, one, receipt);
  }
  return after;
}

function repeated(before: Runs, { call, sign, advances }: CallNews, receipt: Receipt): Runs {
  const maskedSign = signature(call, call.masked_result_hash);
  const runs = progressed(before, call, advances, maskedSign);
  const { now } = instant(receipt, call.ended_at);
  const exact = tracked(runs, sign ?? signature(call, failureOf(call)));
  const masked = tracked(runs.masked, maskedSign);
  const grew = grown(runs, exact) || grown(runs.masked, masked);
  const continues = exact.same.some((length) => length > 0);
  return {
    ...exact,
    masked,
    tool: grew ? call.tool : runs.tool,
    at: grew ? now : runs.at,
    since: continues ? runs.since : now,
    polling: call.polling && (!continues || runs.polling),
  };
}

/** An error without content is compared by its class. Null: nothing to compare. */
function failureOf({ outcome, error_class: name }: ToolCall): string | null {
  return outcome === 'error' && name ? `error:${name}` : null;
}

/**
 * A mutation ends every run; a changed result ends them too. The masked ones it ends only where it is none of their last results
 * either: they are there to see through small changes.
 */
function progressed(runs: Runs, call: ToolCall, advances: boolean, maskedSign: number | null): Runs {
  if (call.mutating && call.outcome === 'ok') return NO_RUNS;
  if (!advances) return runs;
  const known = maskedSign !== null && runs.masked.recent.includes(maskedSign);
  const masked = known ? runs.masked : { ...NO_TRACK, recent: runs.masked.recent };
  return { ...NO_RUNS, recent: runs.recent, masked };
}

/** A call of which nothing is known to compare breaks the row, and what was counted stands. */
function tracked({ recent, same: before, top }: Track, sign: number | null): Track {
  if (sign === null) return { ...NO_TRACK, top };
  const same = NONE.map((_, i) => (recent.at(-1 - i) === sign ? (before[i] ?? 0) + 1 : 0));
  return {
    recent: [...recent.slice(1 - MAX_CYCLE), sign],
    same,
    top: top.map((most, i) => Math.max(most, repetitions(same, i + 1))),
  };
}

const grown = (before: Track, after: Track): boolean => after.top.some((most, i) => most > (before.top[i] ?? 0));

/** How often the last p calls have come in a row. A row of one and the same call is a run of period 1, and no longer cycle. */
function repetitions(same: readonly number[], period: number): number {
  for (let shorter = 1; shorter < period; shorter++)
    if (period % shorter === 0 && (same[shorter - 1] ?? 0) > 0) return 0;
  return Math.floor(((same[period - 1] ?? 0) + period) / period);
}
