import type { ToolCall } from '@vigil/events';
import { instant, type Receipt } from '../moment.ts';
import { finished, rateLimited } from './calls.ts';
import { type CallDelta, type HeartbeatDelta, signature } from './heartbeat-delta.ts';

/** The longest cycle that is detected. */
export const MAX_CYCLE = 5;
const NONE: readonly number[] = [0, 0, 0, 0, 0];

/**
 * Repetitions, counted with each call. Index p − 1 is for the period p. `same`: how many calls in a row equal the call
 * p before them. `top`: the most repetitions since the last progress, because progress ends a repetition. Polls are not
 * stored in `top`: a row of polls counts only while it lasts.
 */
export type Row = {
  readonly recent: readonly number[];
  readonly same: readonly number[];
  readonly top: readonly number[];
  /** the call at which `top` last grew, or the last poll: its tool, and when, on `now`'s axis */
  readonly tool: string | null;
  readonly at: number;
  /** when the first call of the present row was made, and whether all its calls are polls */
  readonly since: number;
  readonly polling: boolean;
};

/** Failures of the same call in a row, with any error; `top` is the most since the last progress. */
export type Failing = {
  readonly sign: number | null;
  readonly count: number;
  readonly top: number;
  readonly at: number;
};

export type Runs = {
  readonly exact: Row;
  /** the same, with results in which the varying parts are masked */
  readonly masked: Row;
  readonly failing: Failing;
  /** calls of any kind in a row without new information, and when the last was made */
  readonly stale: { readonly count: number; readonly at: number };
};

const NO_ROW: Row = { recent: [], same: NONE, top: NONE, tool: null, at: 0, since: 0, polling: false };
const NO_FAILING: Failing = { sign: null, count: 0, top: 0, at: 0 };
const NO_STALE: Runs['stale'] = { count: 0, at: 0 };

export const NO_RUNS: Runs = { exact: NO_ROW, masked: NO_ROW, failing: NO_FAILING, stale: NO_STALE };

export const runsAfter = (runs: Runs, delta: HeartbeatDelta, receipt: Receipt): Runs => {
  let after = delta.declared ? NO_RUNS : runs;
  for (const one of delta.calls) {
    if (!finished(one.call) || rateLimited(one.call)) continue;
    after = repeated(after, one, instant(receipt, one.call.ended_at).now);
  }
  return after;
};

const repeated = (before: Runs, { call, sign: ofResult, advances }: CallDelta, now: number): Runs => {
  const sign = ofResult ?? signature(call, failureOf(call));
  const maskedSign = call.masked_result_hash === null ? sign : signature(call, call.masked_result_hash);
  const runs = advances ? progressed(before, call, maskedSign) : before;
  const exact = rowAfter(runs.exact, call, sign, now);
  return {
    exact,
    // Without masking, both are one object. Most agents mask nothing, so a second row would waste space.
    masked: runs.masked === runs.exact && maskedSign === sign ? exact : rowAfter(runs.masked, call, maskedSign, now),
    failing: failingAfter(runs.failing, call, now),
    stale: advances ? NO_STALE : staleAfter(runs.stale, call, sign, now),
  };
};

/** An error without content is compared by its class; null if there is nothing to compare. */
const failureOf = ({ outcome, error_class: name }: ToolCall): string | null =>
  outcome === 'error' && name ? `error:${name}` : null;

/**
 * A successful mutation ends every run. A changed result ends the exact run. It ends the masked run only if its masked
 * result is new too, because masking ignores small changes. A failure with another error does not end a run of
 * failures.
 */
const progressed = (runs: Runs, call: ToolCall, maskedSign: number | null): Runs => {
  if (call.mutating && call.outcome === 'ok') return NO_RUNS;
  const known = maskedSign !== null && runs.masked.recent.includes(maskedSign);
  const exact = { ...NO_ROW, recent: runs.exact.recent };
  const masked = runs.masked === runs.exact ? exact : { ...NO_ROW, recent: runs.masked.recent };
  return {
    exact,
    masked: known ? runs.masked : masked,
    failing: call.outcome === 'ok' ? NO_FAILING : runs.failing,
    stale: NO_STALE,
  };
};

/** A call without a reported result does not count, because its result may be new. */
const staleAfter = (before: Runs['stale'], call: ToolCall, sign: number | null, now: number): Runs['stale'] =>
  call.polling || sign === null ? before : { count: before.count + 1, at: now };

/** A call with nothing to compare ends the row and keeps the count. */
const rowAfter = (row: Row, call: ToolCall, sign: number | null, now: number): Row => {
  const { top: before, tool, at } = row;
  if (sign === null) return { ...NO_ROW, top: before, tool, at };
  const continues = row.recent.includes(sign);
  const same = continues ? NONE.map((_, i) => (row.recent.at(-1 - i) === sign ? (row.same[i] ?? 0) + 1 : 0)) : NONE;
  const polling = call.polling && (!continues || row.polling);
  const top = polling || !continues ? before : topAfter(before, same);
  const counts = top !== before || (polling && continues);
  return {
    recent: [...row.recent.slice(1 - MAX_CYCLE), sign],
    same,
    top,
    tool: counts ? call.tool : tool,
    at: counts ? now : at,
    since: continues ? row.since : now,
    polling,
  };
};

const topAfter = (top: readonly number[], same: readonly number[]): readonly number[] => {
  const after = top.map((most, i) => Math.max(most, repetitions(same, i + 1)));
  return after.some((most, i) => most > (top[i] ?? 0)) ? after : top;
};

/**
 * How often the last p calls have repeated in a row, from two on. A row of the same call is a run of period 1 and not a
 * longer cycle.
 */
export const repetitions = (same: readonly number[], period: number): number => {
  const length = same[period - 1] ?? 0;
  if (length === 0) return 0;
  for (let shorter = 1; shorter < period; shorter++)
    if (period % shorter === 0 && (same[shorter - 1] ?? 0) > 0) return 0;
  const times = Math.floor((length + period) / period);
  return times > 1 ? times : 0;
};

const failingAfter = (before: Failing, call: ToolCall, now: number): Failing => {
  const failed = call.outcome === 'error' && !call.polling;
  const sign = failed ? signature(call, 'failed') : null;
  if (sign === null) return before.sign === null ? before : { ...before, sign, count: 0 };
  const count = sign === before.sign ? before.count + 1 : 1;
  const grew = count > before.top;
  return { sign, count, top: grew ? count : before.top, at: grew ? now : before.at };
};
