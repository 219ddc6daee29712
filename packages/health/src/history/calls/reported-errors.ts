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

/** The last call and the number of steps that were reported before. */
type Before = { readonly lastCall: number | null; readonly steps: number | null };

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

/** The finished calls; of an agent that reports none, its steps, or else one for a change of `last_tool_call`. */
const operations = (known: Before, { tool_calls, steps, last_tool_call: lastCall }: Heartbeat): number => {
  const calls = tool_calls.filter(finished).length;
  if (calls > 0) return calls;
  if (steps !== null) return known.steps === null ? 0 : Math.max(0, steps.total_steps - known.steps);
  return lastCall !== null && lastCall !== known.lastCall ? 1 : 0;
};
