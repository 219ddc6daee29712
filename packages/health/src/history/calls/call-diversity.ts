import { hash32 } from '../hash.ts';
import { type Fold, instant } from '../moment.ts';

/** Calls among which different ones are counted. */
export const LAST_CALLS = 8;
/** Enough to distinguish eight calls, and half the space. */
const SHORT = 0xffff;

/** The last calls, independent of their outcome. */
export type CallDiversity = {
  /** tool and arguments as a number, the newest last */
  readonly calls: readonly number[];
  /** when the last of them ended or began, on `now`'s axis */
  readonly at: number;
};

const NO_CALLS: CallDiversity = { calls: [], at: 0 };

export const callDiversity: Fold<CallDiversity> = {
  initial: () => NO_CALLS,
  observe: (before, heartbeat, receipt) => {
    let after = before;
    for (const { outcome, tool, args_hash: args, ended_at: ended, started_at: started } of heartbeat.tool_calls) {
      if (args === null || (outcome !== 'ok' && outcome !== 'error')) continue;
      const calls = [...after.calls.slice(1 - LAST_CALLS), hash32(tool, args) & SHORT];
      after = { calls, at: Math.max(after.at, instant(receipt, ended ?? started).now) };
    }
    return after;
  },
  largestBytes: LAST_CALLS * 6 + 40,
};
