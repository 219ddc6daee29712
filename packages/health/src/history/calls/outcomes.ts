import { type Fold, instant } from '../moment.ts';
import { finished, rateLimited } from './calls.ts';

/** Finished calls that are remembered: as many as a number has exact bits for. */
export const MOST_CALLS = 50;
const ALL = 2 ** MOST_CALLS;

/** How the last calls ended. */
export type Outcomes = {
  /** a bit for each finished call, the newest lowest; 1: it failed */
  readonly bits: number;
  readonly calls: number;
  /** when one last failed, on `now`'s axis */
  readonly at: number;
};

const NO_OUTCOMES: Outcomes = { bits: 0, calls: 0, at: 0 };

/** Calls refused by a rate limit are none. */
export const outcomes: Fold<Outcomes> = {
  initial: () => NO_OUTCOMES,
  observe: (before, heartbeat, receipt) => {
    let after = before;
    for (const call of heartbeat.tool_calls) {
      if (!finished(call) || rateLimited(call)) continue;
      const failed = call.outcome === 'error';
      after = {
        bits: ((after.bits * 2) % ALL) + (failed ? 1 : 0),
        calls: Math.min(after.calls + 1, MOST_CALLS),
        at: failed ? instant(receipt, call.ended_at).now : after.at,
      };
    }
    return after;
  },
  largestBytes: 70,
};

/** Of the last `window` calls, how many there were and how many of them failed. */
export function failedOf(
  { bits, calls }: Outcomes,
  window: number,
): { readonly calls: number; readonly failed: number } {
  let failed = 0;
  let rest = bits % 2 ** window;
  while (rest > 0) {
    failed += rest % 2;
    rest = Math.floor(rest / 2);
  }
  return { calls: Math.min(calls, window), failed };
}
