import type { ToolCall } from '@vigil/events';
import { hash32 } from '../hash.ts';
import { type Heartbeat, instant, type Receipt } from '../moment.ts';
import { finished, rateLimited } from './calls.ts';
import type { HeartbeatDelta } from './heartbeat-delta.ts';

/** The number of targets that are counted at once. With more, the least recently used one is dropped. */
export const TARGETS = 6;
export const NAME_CHARACTERS = 64;

export type Target = { readonly sign: number; readonly count: number };

/** Calls on the same target since the last progress, because progress ends a repetition. */
export type Targets = {
  /** the most recently used last */
  readonly counts: readonly Target[];
  /**
   * the highest count, the name of that target (only its end, if it is long), and when the count last grew, on `now`'s
   * axis
   */
  readonly top: number;
  readonly name: string | null;
  readonly at: number;
};

export const NO_TARGETS: Targets = { counts: [], top: 0, name: null, at: 0 };

export const targetsAfter = (
  before: Targets,
  delta: HeartbeatDelta,
  heartbeat: Heartbeat,
  receipt: Receipt,
): Targets => {
  let after = delta.declared ? cleared(before) : before;
  for (const [i, call] of heartbeat.tool_calls.entries()) {
    if (delta.calls[i]?.succeeds) after = cleared(after);
    if (call.target !== null && leavesUnchanged(call)) after = touched(after, call.target, call, receipt);
  }
  return after;
};

const cleared = (targets: Targets): Targets => (targets.top === 0 ? targets : NO_TARGETS);

/** Whether the call is a read, or an edit that failed. The outcome of a call without a result is unknown. */
const leavesUnchanged = (call: ToolCall): boolean => {
  if (!finished(call) || rateLimited(call)) return false;
  return call.outcome === 'error' || (!call.mutating && call.result_hash !== null);
};

const touched = (before: Targets, target: string, { ended_at }: ToolCall, receipt: Receipt): Targets => {
  const sign = hash32(target);
  const count = (before.counts.find((known) => known.sign === sign)?.count ?? 0) + 1;
  const counts = [...before.counts.filter((known) => known.sign !== sign).slice(1 - TARGETS), { sign, count }];
  if (count <= before.top) return { ...before, counts };
  return { counts, top: count, name: target.slice(-NAME_CHARACTERS), at: instant(receipt, ended_at).now };
};
