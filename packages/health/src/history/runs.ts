import type { ToolCall } from '@vigil/events';
import { finished, rateLimited } from './calls.ts';
import type { Beat, Receipt } from './moment.ts';
import { advances, declared, type Progress, remembering, resultOf, signature } from './progress.ts';

/** The longest cycle that is looked for (S4 goes to five). */
export const MAX_CYCLE = 5;
const NONE: readonly number[] = [0, 0, 0, 0, 0];

/**
 * Repetition, counted as it goes. At [p − 1] stands the period p: `same` is how many calls in a row equalled the one p before,
 * `top` the most repetitions since the last progress, which is what ends a repetition.
 */
export type Runs = {
  readonly recent: readonly number[];
  readonly same: readonly number[];
  readonly top: readonly number[];
  readonly masked: { readonly sign: number | null; readonly count: number; readonly top: number };
  readonly tool: string | null;
  /** when `top` last grew, on `now`'s axis */
  readonly at: number;
  /** the first call of the current run, and whether all of it polls */
  readonly since: number;
  readonly polling: boolean;
};

export const NO_RUNS: Runs = {
  recent: [],
  same: NONE,
  top: NONE,
  masked: { sign: null, count: 0, top: 0 },
  tool: null,
  at: 0,
  since: 0,
  polling: false,
};

export const largestRunsBytes: number = 350;

/** `before`: progress as it was before this heartbeat, so that each call is compared with those before it. */
export function runsAfter(runs: Runs, before: Progress, beat: Beat, receipt: Receipt): Runs {
  let after = declared(before, beat) ? NO_RUNS : runs;
  let { results } = before;
  for (const call of beat.tool_calls) {
    if (!finished(call) || rateLimited(call)) continue;
    after = repeated(progressed(after, call, results), call, receipt);
    results = remembering(results, call);
  }
  return after;
}

/** A mutation ends every run; a changed result ends them too, except the masked one, which is there to see through small changes. */
function progressed(runs: Runs, call: ToolCall, results: readonly number[]): Runs {
  if (call.mutating && call.outcome === 'ok') return NO_RUNS;
  return advances(call, results) ? { ...NO_RUNS, recent: runs.recent, masked: runs.masked } : runs;
}

function repeated(runs: Runs, call: ToolCall, { now }: Receipt): Runs {
  const sign = signature(call, resultOf(call));
  const masked = maskedAfter(runs.masked, signature(call, call.masked_result_hash));
  if (sign === null) return { ...NO_RUNS, top: runs.top, at: runs.at, tool: runs.tool, masked };
  const same = NONE.map((_, i) => (runs.recent.at(-1 - i) === sign ? (runs.same[i] ?? 0) + 1 : 0));
  const top = runs.top.map((most, i) => Math.max(most, repetitions(same, i + 1)));
  const grew = masked.top > runs.masked.top || top.some((most, i) => most > (runs.top[i] ?? 0));
  const continues = same.some((length) => length > 0);
  return {
    recent: [...runs.recent.slice(1 - MAX_CYCLE), sign],
    same,
    top,
    masked,
    tool: grew ? call.tool : runs.tool,
    at: grew ? now : runs.at,
    since: continues ? runs.since : now,
    polling: call.polling && (!continues || runs.polling),
  };
}

/** How often the last p calls have come in a row. A row of one and the same call is a run of period 1, and no longer cycle. */
function repetitions(same: readonly number[], period: number): number {
  for (let shorter = 1; shorter < period; shorter++)
    if (period % shorter === 0 && (same[shorter - 1] ?? 0) > 0) return 0;
  return Math.floor(((same[period - 1] ?? 0) + period) / period);
}

function maskedAfter(masked: Runs['masked'], sign: number | null): Runs['masked'] {
  const count = sign === null ? 0 : sign === masked.sign ? masked.count + 1 : 1;
  return { sign, count, top: Math.max(masked.top, count) };
}
