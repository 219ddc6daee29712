import type { Heartbeat, Receipt } from '../moment.ts';

/**
 * The mark at which the agent got its task, while nothing shows that it has begun; null once something does, and without
 * a task. A report of an activity, a phase or an indicator shows nothing.
 */
export type NotStarted = number | null;

/** `took`: whether the task has changed; `begins`: whether this heartbeat has evidence of work. */
export const notStartedAfter = (
  before: NotStarted,
  took: boolean,
  begins: boolean,
  heartbeat: Heartbeat,
  { watched }: Receipt,
): NotStarted => {
  if (heartbeat.task_id === null || begins) return null;
  return took ? watched : before;
};

/** What was known before a heartbeat: the number of steps, and the last output as sent. */
type Known = { readonly steps: number | null; readonly output: number | null };

/** Whether a heartbeat has more steps or later output than an earlier one. */
export const hasAdvanced = (known: Known, { steps, output }: Heartbeat): boolean => {
  if (steps !== null && known.steps !== null && steps.total_steps > known.steps) return true;
  const printed = output?.last_output_at ?? null;
  return printed !== null && known.output !== null && printed > known.output;
};
