import type { Heartbeat, Receipt } from '../moment.ts';

/**
 * The mark at which the agent got a task that it has not begun; null once it has begun, and without a task. A call, use
 * of tokens, progress, or a report of the activity working counts as a start.
 */
export type NotStarted = number | null;

/** `took`: whether the task has changed; `moved`: whether this heartbeat reports a call, use of tokens, or progress. */
export const notStartedAfter = (
  before: NotStarted,
  took: boolean,
  moved: boolean,
  heartbeat: Heartbeat,
  { watched }: Receipt,
): NotStarted => {
  if (heartbeat.task_id === null) return null;
  if (!took && before === null) return null;
  if (moved || AT_IT.has(heartbeat.activity)) return null;
  return took ? watched : before;
};

const AT_IT: ReadonlySet<Heartbeat['activity']> = new Set<Heartbeat['activity']>([
  'working',
  'handing_off',
  'finished',
]);
