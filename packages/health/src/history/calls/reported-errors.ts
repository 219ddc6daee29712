import type { Heartbeat, Receipt } from '../moment.ts';
import { finished } from './calls.ts';
import { NO_OUTCOMES, type Outcomes, withOutcomes } from './last-calls.ts';

/** Errors by the agent's own `error_count`, with the operations beside them. */
export type ReportedErrors = {
  /** as last sent */
  readonly errors: number;
  readonly outcomes: Outcomes;
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
  const made = Math.max(failed, operations(known, heartbeat));
  if (made === 0 && errors === before.errors) return before;
  return { errors, outcomes: withOutcomes(before.outcomes, made - failed, failed, now) };
};

/**
 * The finished calls; of an agent that reports none, its steps, or else one for a change of `last_tool_call`. A call that
 * is reported as running counts when it has finished, and `last_tool_call` does not count it again.
 */
const operations = (known: Before, { tool_calls, steps, last_tool_call: lastCall }: Heartbeat): number => {
  if (tool_calls.length > 0) return tool_calls.filter(finished).length;
  if (steps !== null) return known.steps === null ? 0 : Math.max(0, steps.total_steps - known.steps);
  if (lastCall === null || lastCall === known.lastCall) return 0;
  return known.reportsCalls && !known.isLater ? 0 : 1;
};
