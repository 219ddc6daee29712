import type { Heartbeat, Receipt } from '../moment.ts';

/**
 * Mark since which the agent has a task without having begun it; null once it has begun, and without a task. A call, use of tokens,
 * progress, or its own report that it works, is a beginning.
 */
export type NotStarted = number | null;

/** `took`: the task is another than before; `moved`: this heartbeat reports a call, use of tokens, or progress. */
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
