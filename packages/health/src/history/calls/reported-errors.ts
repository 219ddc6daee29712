import { hash32 } from '../hash.ts';
import type { Heartbeat, Receipt } from '../moment.ts';
import { finished, OPEN_CALLS } from './calls.ts';
import { MOST_CALLS, type Outcomes } from './last-calls.ts';

/** A row of `times` heartbeats that each reported as many operations and as many new errors. */
export type ErrorShare = readonly [operations: number, failed: number, times: number];

/** Errors by the agent's own `error_count`, with the operations beside them. */
export type ReportedErrors = {
  /** as last sent */
  readonly errors: number;
  /** `last_tool_call` as last sent */
  readonly lastCall: number | null;
  /** the newest heartbeats with at least MOST_CALLS operations, the newest last */
  readonly shares: readonly ErrorShare[];
  /** when the count of errors last rose, on `now`'s axis */
  readonly at: number;
  /** short hashes of the ids of the calls that have counted and not ended; absent: none */
  readonly running?: readonly number[];
  /** how many calls have counted whose step, or change of `last_tool_call`, is still to come; absent: none */
  readonly ahead?: number;
};

const NO_SHARES: readonly ErrorShare[] = [];

export const NO_REPORTED_ERRORS: ReportedErrors = { errors: 0, lastCall: null, shares: NO_SHARES, at: 0 };

/** The number of running calls whose ids are stored. With more, the oldest counts again. */
export const RUNNING_CALLS = 100;

/** Enough bits to distinguish a hundred ids, in half the space. */
const SHORT = 0xffff;

const NONE: readonly number[] = [];

/** What was known before: the number of steps, and the reported calls. */
type Before = {
  readonly steps: number | null;
  /** whether finished calls were reported; then `last_tool_call` names another call only if `isLater` */
  readonly reportsCalls: boolean;
  /** whether this heartbeat has a later call than all calls before */
  readonly isLater: boolean;
};

/**
 * The first count of an instance is the base, and a lower count is another one. Calls count. Steps, or changes of
 * `last_tool_call`, count too, unless this or an earlier heartbeat has reported their calls.
 */
export const reportedErrorsAfter = (
  before: ReportedErrors,
  known: Before,
  heartbeat: Heartbeat,
  { previous, now }: Receipt,
): ReportedErrors => {
  const { running: runningBefore = NONE } = before;
  const { error_count: errors } = heartbeat;
  const lastCall = heartbeat.last_tool_call ?? before.lastCall;
  const failed = previous === null ? 0 : Math.max(0, errors - before.errors);
  const { calls, running } = callsIn(runningBefore, heartbeat);
  const others = othersIn(known, lastCall !== before.lastCall, heartbeat);
  const counted = (before.ahead ?? 0) + calls - others.count;
  const most = heartbeat.steps === null ? running.length : OPEN_CALLS;
  const ahead = Math.min(most, Math.max(0, counted));
  const operations = calls + (others.areOfCalls ? 0 : Math.max(0, -counted));
  // Without any report of calls or steps, their number is unknown, and no share can be above a limit.
  const reportsOperations =
    operations > 0 ||
    before.shares.some(([earlier]) => earlier > 0) ||
    lastCall !== null ||
    known.reportsCalls ||
    heartbeat.steps !== null ||
    known.steps !== null;
  const isSame = errors === before.errors && lastCall === before.lastCall && running === runningBefore;
  if (isSame && operations === 0 && ahead === (before.ahead ?? 0)) return before;
  return {
    errors,
    lastCall,
    shares: reportsOperations ? sharesAfter(before.shares, operations, failed) : NO_SHARES,
    at: failed > 0 ? now : before.at,
    ...(running.length > 0 && { running }),
    ...(ahead > 0 && { ahead }),
  };
};

/** Each call counts once: at its start or, where that was not reported, at its end. */
const callsIn = (
  before: readonly number[],
  { tool_calls }: Heartbeat,
): { readonly calls: number; readonly running: readonly number[] } => {
  let [calls, running] = [0, before];
  for (const call of tool_calls) {
    const id = hash32(call.call_id) & SHORT;
    const isKnown = running.includes(id);
    const isRunning = call.outcome === 'running';
    if (!isKnown && (isRunning || finished(call))) calls += 1;
    if (isRunning && !isKnown) running = [...running.slice(1 - RUNNING_CALLS), id];
    if (!isRunning && isKnown) running = running.filter((one) => one !== id);
  }
  return { calls, running };
};

/**
 * Its new steps; of an agent that reports none, one call for a change of `last_tool_call`. `areOfCalls`: whether they
 * are those of reported calls.
 */
const othersIn = (
  known: Before,
  isChange: boolean,
  { tool_calls, steps }: Heartbeat,
): { readonly count: number; readonly areOfCalls: boolean } => {
  if (steps === null) {
    const areOfCalls = tool_calls.some(finished) || (known.reportsCalls && !known.isLater);
    return { count: isChange ? 1 : 0, areOfCalls };
  }
  const count = known.steps === null ? 0 : Math.max(0, steps.total_steps - known.steps);
  return { count, areOfCalls: false };
};

/** Errors without an operation beside them are of the operations before. */
const sharesAfter = (before: readonly ErrorShare[], operations: number, failed: number): readonly ErrorShare[] => {
  if (operations > 0)
    return isFull(before, operations, failed) ? before : bounded(withShare(before, operations, failed));
  if (failed === 0) return before;
  const [known, earlier, times] = before.at(-1) ?? [0, 0, 1];
  const others = before.slice(0, -1);
  return withShare(times > 1 ? [...others, [known, earlier, times - 1]] : others, known, earlier + failed);
};

/** Whether the newest row is the only one and has enough operations: one more of the same changes nothing. */
const isFull = (shares: readonly ErrorShare[], operations: number, failed: number): boolean => {
  const row = shares[0];
  if (row === undefined || shares.length > 1) return false;
  return (
    row[0] === operations &&
    row[1] === failed &&
    operations * (row[2] - 1) < MOST_CALLS &&
    operations * row[2] >= MOST_CALLS
  );
};

/** More errors than MOST_CALLS are above any share of fewer operations. */
const withShare = (before: readonly ErrorShare[], operations: number, failed: number): readonly ErrorShare[] => {
  const errors = Math.min(failed, Math.max(operations, MOST_CALLS));
  const last = before.at(-1);
  if (last === undefined || last[0] !== operations || last[1] !== errors) return [...before, [operations, errors, 1]];
  return [...before.slice(0, -1), [operations, errors, last[2] + 1]];
};

/** The shares of older states, which counted by outcome: one operation a heartbeat. */
export const sharesOf = ({ bits, calls }: Outcomes): readonly ErrorShare[] => {
  let shares: readonly ErrorShare[] = [];
  for (let i = calls - 1; i >= 0; i--) shares = withShare(shares, 1, Math.floor(bits / 2 ** i) % 2);
  return shares;
};

/** Without the oldest heartbeats that are not needed for MOST_CALLS operations. */
const bounded = (shares: readonly ErrorShare[]): readonly ErrorShare[] => {
  const taken = newestOf(shares, MOST_CALLS);
  return taken.length === shares.length && taken[0]?.[2] === shares[0]?.[2] ? shares : taken;
};

/** The newest heartbeats with at least this number of operations; all of them if there are fewer. */
const newestOf = (shares: readonly ErrorShare[], window: number): readonly ErrorShare[] => {
  const newest: ErrorShare[] = [];
  let left = window;
  for (const [operations, failed, times] of shares.toReversed()) {
    if (left <= 0) break;
    const taken = operations === 0 ? times : Math.min(times, Math.ceil(left / operations));
    newest.unshift([operations, failed, taken]);
    left -= taken * operations;
  }
  return newest;
};

/**
 * How many operations the newest heartbeats have reported, and by how much the count of errors rose in them: as few
 * heartbeats as have `window` operations.
 */
export const reportedIn = (
  { shares }: ReportedErrors,
  window: number,
): { readonly operations: number; readonly failed: number } =>
  newestOf(shares, window).reduce(
    (sum, [operations, failed, times]) => ({
      operations: sum.operations + operations * times,
      failed: sum.failed + failed * times,
    }),
    { operations: 0, failed: 0 },
  );
