import type { Heartbeat, Receipt } from '../moment.ts';
import { finished, OPEN_CALLS } from './calls.ts';
import { NO_OUTCOMES, type Outcomes, withOutcomes } from './last-calls.ts';

/** Errors by the agent's own `error_count`, with the operations beside them. */
export type ReportedErrors = {
  /** as last sent */
  readonly errors: number;
  readonly outcomes: Outcomes;
  /** calls that counted at their start, because no end of a call had been reported; absent: none */
  readonly begun?: number;
};

export const NO_REPORTED_ERRORS: ReportedErrors = { errors: 0, outcomes: NO_OUTCOMES };

/** What was known before: the last call, the number of steps, and the reported calls. */
type Before = {
  /** `last_tool_call` as sent */
  readonly lastCall: number | null;
  readonly steps: number | null;
  /** whether finished calls were reported; then `last_tool_call` names another call only if `isLater` */
  readonly reportsCalls: boolean;
  /** whether this heartbeat has a later call than all calls before */
  readonly isLater: boolean;
  /** the ids of the calls in flight */
  readonly open: readonly string[];
};

/** The first count of an instance is the base, and a lower count is another one. */
export const reportedErrorsAfter = (
  before: ReportedErrors,
  known: Before,
  heartbeat: Heartbeat,
  { previous, now }: Receipt,
): ReportedErrors => {
  const { error_count: errors } = heartbeat;
  const failed = previous === null ? 0 : Math.max(0, errors - before.errors);
  const { operations, begun } = operationsIn(known, before.begun ?? 0, heartbeat);
  const made = Math.max(failed, operations);
  if (made === 0 && errors === before.errors && begun === (before.begun ?? 0)) return before;
  const outcomes = withOutcomes(before.outcomes, made - failed, failed, now);
  return { errors, outcomes, ...(begun > 0 && { begun }) };
};

/** `begun`: the calls that have counted at their start so far, and not ended. */
type Operations = { readonly operations: number; readonly begun: number };

/**
 * The finished calls; of an agent that reports no ends of calls, its steps, or else its begun calls. A call that has
 * counted at its start does not count again at its end.
 */
const operationsIn = (known: Before, begun: number, heartbeat: Heartbeat): Operations => {
  const { tool_calls: calls, steps } = heartbeat;
  const ended = calls.filter(finished).length;
  const again = Math.min(begun, ended);
  if (ended > 0 || (known.reportsCalls && calls.length > 0)) return { operations: ended - again, begun: begun - again };
  if (steps !== null)
    return { operations: known.steps === null ? 0 : Math.max(0, steps.total_steps - known.steps), begun };
  const begins = begunIn(known, heartbeat);
  return { operations: begins, begun: calls.length === 0 ? begun : Math.min(begun + begins, OPEN_CALLS) };
};

/**
 * One for a change of `last_tool_call`; of an agent that does not report it, its new calls in flight. Of an agent that
 * reports ends of calls, `last_tool_call` does not count these again.
 */
const begunIn = (known: Before, { tool_calls: calls, last_tool_call: lastCall }: Heartbeat): number => {
  if (lastCall === null)
    return calls.filter(({ call_id, outcome }) => outcome === 'running' && !known.open.includes(call_id)).length;
  if (lastCall === known.lastCall) return 0;
  return known.reportsCalls && !known.isLater ? 0 : 1;
};
