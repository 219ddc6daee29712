import type { ToolCall } from '@vigil/events';
import { hash32 } from '../hash.ts';
import { instant, type Receipt } from '../moment.ts';
import { finished, rateLimited } from './calls.ts';
import { type CallDelta, type HeartbeatDelta, signature } from './heartbeat-delta.ts';

/** The longest cycle that is detected, and the number of calls among which a frequent one is counted. Loops of recorded runs had periods up to seven. */
export const MAX_CYCLE = 12;
const NONE: readonly number[] = new Array<number>(MAX_CYCLE).fill(0);

/**
 * Repetitions, counted with each call. Index p − 1 is for the period p. `same`: how many calls in a row equal the call
 * p before them. `top`: the most repetitions since the last progress, because progress ends a repetition. Polls are not
 * stored in `top`: a row of polls counts only while it lasts.
 */
export type Row = {
  /** of the last calls, the newest last */
  readonly recent: readonly number[];
  /** when the last of them was made */
  readonly last: number;
  readonly same: readonly number[];
  readonly top: readonly number[];
  /** the call at which `top` last grew, or the last poll: its tool, and when, on `now`'s axis */
  readonly tool: string | null;
  readonly at: number;
  /** when the first call of the present row was made */
  readonly since: number;
  /** whether its last call is a poll by itself */
  readonly polling: boolean;
};

/** Failures of the same call in a row, with any error; `top` is the most since the last progress. */
export type Failing = {
  readonly sign: number | null;
  readonly count: number;
  readonly top: number;
  readonly tool: string | null;
  readonly at: number;
};

/** `before`: how many of `count` calls were made before the present turn; absent: none. */
type Counted = { readonly count: number; readonly before?: number };

/** Calls in a row that are alike in one respect: how many, and when the last was made. */
export type Streak = Counted & {
  readonly sign: number | null;
  readonly tool: string;
  readonly at: number;
};

export type Runs = {
  readonly exact: Row;
  /** the same, with results without their figures; null: so far the same row */
  readonly masked: Row | null;
  readonly failing: Failing;
  /**
   * calls of any kind in a row without new information, and when the last was made. `few`: the longest row of them with
   * few different calls, in any order, up to MAX_CYCLE; absent: none
   */
  readonly stale: Counted & { readonly at: number; readonly few?: number };
  /** calls of one tool that gave the same result, with any arguments */
  readonly answer: Streak;
  /** calls of one tool with the same arguments and any results; `blind`: how many of the last had none */
  readonly asked: Streak & { readonly blind: number };
  /** how many of the last calls in a row were polls, or looked what came of one; absent: none */
  readonly polls?: number;
  /** how many calls have finished in the present turn, and when it opened; absent: no turn has opened yet */
  readonly turn?: { readonly calls: number; readonly since: number };
};

const NO_ROW: Row = { recent: [], last: 0, same: NONE, top: NONE, tool: null, at: 0, since: 0, polling: false };
const NO_FAILING: Failing = { sign: null, count: 0, top: 0, tool: null, at: 0 };
const NO_STALE: Runs['stale'] = { count: 0, at: 0 };
const NO_STREAK: Streak = { sign: null, count: 0, tool: '', at: 0 };

export const NO_RUNS: Runs = {
  exact: NO_ROW,
  masked: null,
  failing: NO_FAILING,
  stale: NO_STALE,
  answer: NO_STREAK,
  asked: { ...NO_STREAK, blind: 0 },
};

/** `opens`: whether a turn of the client opens. The calls of its heartbeat are of that turn. */
export const runsAfter = (runs: Runs, delta: HeartbeatDelta, opens: boolean, receipt: Receipt): Runs => {
  const before = opens ? inNewTurn(runs, receipt.now) : runs;
  let after = delta.declared ? withTurn(NO_RUNS, before.turn) : before;
  for (const one of delta.calls) {
    if (!finished(one.call) || rateLimited(one.call)) continue;
    const { turn } = after;
    after = repeated(after, one, instant(receipt, one.call.ended_at).now);
    after = withTurn(after, turn && { ...turn, calls: turn.calls + 1 });
  }
  return after;
};

const withTurn = (runs: Runs, turn: Runs['turn']): Runs => (turn === undefined ? runs : { ...runs, turn });

const inNewTurn = (runs: Runs, since: number): Runs => ({
  ...runs,
  stale: ofEarlierTurns(runs.stale),
  answer: ofEarlierTurns(runs.answer),
  asked: ofEarlierTurns(runs.asked),
  turn: { calls: 0, since },
});
const ofEarlierTurns = <One extends Counted>(one: One): One => (one.count === 0 ? one : { ...one, before: one.count });

/** The calls of a streak that were made in the present turn. */
export const countInTurn = ({ count, before = 0 }: Counted): number => count - before;

/** For each period, how many calls in a row of the present turn equal the call p before them in the same turn. */
export const sameInTurn = ({ same }: Row, { turn }: Runs): readonly number[] =>
  turn === undefined ? same : same.map((count, i) => Math.max(0, Math.min(count, turn.calls - i - 1)));

const repeated = (before: Runs, { call: made, sign: ofResult, advances }: CallDelta, now: number): Runs => {
  const looks = looksAfter(before.exact, made);
  const polls = made.polling || looks ? (before.polls ?? 0) + 1 : 0;
  const call = looks ? { ...made, polling: true } : made;
  const seen = { call, polls, polling: made.polling };
  const sign = ofTool(call, ofResult ?? signature(call, failureOf(call)));
  const maskedSign = call.masked_result_hash === null ? sign : ofTool(call, signature(call, call.masked_result_hash));
  const runs = advances ? progressed(before, call, maskedSign) : before;
  const exact = rowAfter(runs.exact, seen, sign, now);
  const stale = advances || call.polling || sign === null ? runs.stale : staleAfter(runs.stale, exact.recent, now);
  return {
    exact,
    // Most agents give results without figures, so a second row would waste space.
    masked:
      runs.masked === null && maskedSign === sign ? null : rowAfter(runs.masked ?? runs.exact, seen, maskedSign, now),
    failing: failingAfter(runs.failing, call, now),
    stale,
    answer: answerAfter(runs.answer, call, now),
    asked: askedAfter(runs.asked, call, now),
    ...(polls > 0 && { polls }),
  };
};

/** A call that succeeds right after a wait looks what came of it, so it is a poll too. The next one is not. */
const looksAfter = (before: Row, { polling, outcome, mutating }: ToolCall): boolean =>
  before.polling && !polling && outcome === 'ok' && !mutating;

/** A signature with its tool in the bits above it, so that a signal can be restricted to tools. */
const ofTool = ({ tool }: ToolCall, sign: number | null): number | null =>
  sign === null ? null : toolMark(tool) * 2 ** 32 + sign;
export const toolMark = (tool: string): number => hash32(tool) % 2 ** 16;
export const toolMarkIn = (sign: number): number => Math.floor(sign / 2 ** 32);

/** Edits and polls answer alike by nature. */
const answerAfter = (before: Streak, call: ToolCall, now: number): Streak => {
  if (call.polling || (call.mutating && call.outcome === 'ok')) return before;
  const result = call.result_hash ?? failureOf(call);
  return streakAfter(before, call.tool, result === null ? null : hash32(call.tool, result), now);
};

const askedAfter = (before: Runs['asked'], call: ToolCall, now: number): Runs['asked'] => {
  if (call.polling) return before;
  const sign = call.args_hash === null ? null : hash32(call.tool, call.args_hash);
  const isBlind = call.result_hash === null && call.outcome === 'ok';
  const continues = sign !== null && sign === before.sign;
  return { ...streakAfter(before, call.tool, sign, now), blind: isBlind ? (continues ? before.blind + 1 : 1) : 0 };
};

const streakAfter = (before: Streak, tool: string, sign: number | null, now: number): Streak => {
  if (sign === null) return NO_STREAK;
  return sign === before.sign
    ? { ...before, count: before.count + 1, tool, at: now }
    : { sign, count: 1, tool, at: now };
};

/** An error without content is compared by its class; null if there is nothing to compare. */
const failureOf = ({ outcome, error_class: name }: ToolCall): string | null =>
  outcome === 'error' && name ? `error:${name}` : null;

/**
 * A successful mutation ends every run, unless the same one has given the same result before: undoing and repeating
 * edits is a loop. A changed result ends the exact run. It ends the masked run only if its masked result is new too,
 * because masking ignores small changes. A failure with another error does not end a run of failures.
 */
const progressed = (runs: Runs, call: ToolCall, maskedSign: number | null): Runs => {
  const succeeds = call.outcome === 'ok';
  const masked = runs.masked ?? runs.exact;
  const isKnown = !(call.mutating && succeeds) && maskedSign !== null && masked.recent.includes(maskedSign);
  return {
    exact: restarted(runs.exact),
    masked: isKnown ? masked : runs.masked && restarted(runs.masked),
    failing: succeeds ? NO_FAILING : runs.failing,
    stale: NO_STALE,
    answer: call.mutating && succeeds ? NO_STREAK : runs.answer,
    asked: runs.asked,
  };
};

/** The last calls stay, so that the first round of a cycle counts as one. */
const restarted = ({ recent, last }: Row): Row => ({ ...NO_ROW, recent, last });

/** A call without a reported result does not count, because its result may be new. */
const staleAfter = (before: Runs['stale'], recent: readonly number[], now: number): Runs['stale'] => {
  const count = before.count + 1;
  const few = Math.min(count, endOfFew(recent));
  return { ...before, count, at: now, ...(few > (before.few ?? 1) && { few }) };
};

/** More different calls than this are no rotation of few. */
const FEW = 4;

/** The number of the last calls with few different ones among them. */
const endOfFew = (recent: readonly number[]): number => {
  const different = new Set<number>();
  const before = recent.findLastIndex((sign) => different.add(sign).size > FEW);
  return recent.length - before - 1;
};

/** A call, how many polls end with it, and whether it is one by itself. */
type Seen = { readonly call: ToolCall; readonly polls: number; readonly polling: boolean };

/** A call with nothing to compare ends the row and keeps the count. */
const rowAfter = (row: Row, { call, polls, polling }: Seen, sign: number | null, now: number): Row => {
  const { top: before, tool, at } = row;
  if (sign === null) return { ...NO_ROW, top: before, tool, at, polling };
  const continues = row.recent.includes(sign, -MAX_CYCLE);
  const same = continues ? NONE.map((_, i) => (row.recent.at(-1 - i) === sign ? (row.same[i] ?? 0) + 1 : 0)) : NONE;
  const top = continues ? topAfter(before, same, polls) : before;
  const counts = top !== before || (call.polling && same.some((_, i) => waits(same, i + 1, polls) > 0));
  return {
    recent: [...row.recent.slice(1 - MAX_CYCLE), sign],
    last: now,
    same,
    top,
    tool: counts ? call.tool : tool,
    at: counts ? now : at,
    since: continues ? row.since : now,
    polling,
  };
};

const topAfter = (top: readonly number[], same: readonly number[], polls: number): readonly number[] => {
  if (same.every((count) => count === 0)) return top;
  const after = top.map((most, i) => Math.max(most, loops(same, i + 1, polls)));
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

/** The repetitions of a period, unless all of their calls are polls. */
export const loops = (same: readonly number[], period: number, polls: number): number => {
  const times = repetitions(same, period);
  return times * period <= polls ? 0 : times;
};

/** The repetitions of a period if all of their calls are polls. */
export const waits = (same: readonly number[], period: number, polls: number): number =>
  polls === 0 ? 0 : repetitions(same, period) - loops(same, period, polls);

const failingAfter = (before: Failing, call: ToolCall, now: number): Failing => {
  const failed = call.outcome === 'error' && !call.polling;
  const sign = failed ? signature(call, 'failed') : null;
  if (sign === null) return before.sign === null ? before : { ...before, sign, count: 0 };
  const count = sign === before.sign ? before.count + 1 : 1;
  const grew = count > before.top;
  return grew ? { sign, count, top: count, tool: call.tool, at: now } : { ...before, sign, count };
};
