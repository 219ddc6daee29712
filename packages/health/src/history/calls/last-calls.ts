import { hash32 } from '../hash.ts';
import { type Heartbeat, instant, type Receipt } from '../moment.ts';
import { finished, rateLimited } from './calls.ts';

/** The number of finished calls that are stored: the bits that a number represents exactly. */
export const MOST_CALLS = 50;
const ALL = 2 ** MOST_CALLS;

/** The outcomes of the last calls. */
export type Outcomes = {
  /** a bit for each finished call, the newest lowest; 1: it failed */
  readonly bits: number;
  readonly calls: number;
  /** when a call last failed, on `now`'s axis */
  readonly at: number;
};

export const NO_OUTCOMES: Outcomes = { bits: 0, calls: 0, at: 0 };

/** Calls refused by a rate limit do not count. */
export const outcomesAfter = (before: Outcomes, heartbeat: Heartbeat, receipt: Receipt): Outcomes => {
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
};

/** The number of calls among the last `window` ones, and the number of failed ones. */
export const failedOf = (
  { bits, calls }: Outcomes,
  window: number,
): { readonly calls: number; readonly failed: number } => {
  let failed = 0;
  let rest = bits % 2 ** window;
  while (rest > 0) {
    failed += rest % 2;
    rest = Math.floor(rest / 2);
  }
  return { calls: Math.min(calls, window), failed };
};

/** The number of calls among which distinct ones are counted. */
export const LAST_CALLS = 8;
/** Enough bits to distinguish eight calls, in half the space. */
const SHORT = 0xffff;

/** The last calls, independent of their outcome. */
export type CallDiversity = {
  /** hashes of tool and arguments, the newest last */
  readonly calls: readonly number[];
  /** when the last of them ended or began, on `now`'s axis */
  readonly at: number;
};

export const NO_DIVERSITY: CallDiversity = { calls: [], at: 0 };

export const callDiversityAfter = (before: CallDiversity, heartbeat: Heartbeat, receipt: Receipt): CallDiversity => {
  let after = before;
  for (const { outcome, tool, args_hash: args, ended_at: ended, started_at: started } of heartbeat.tool_calls) {
    if (args === null || (outcome !== 'ok' && outcome !== 'error')) continue;
    const calls = [...after.calls.slice(1 - LAST_CALLS), hash32(tool, args) & SHORT];
    after = { calls, at: Math.max(after.at, instant(receipt, ended ?? started).now) };
  }
  return after;
};
