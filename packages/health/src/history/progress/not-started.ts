import type { Beat, Receipt } from '../moment.ts';

/**
 * Mark since which a task is held and nothing was begun of it; null once something was, and without a task. A call, use of tokens,
 * progress, or that it says to be at it, is a beginning.
 */
export type Unbegun = number | null;

export const largestUnbegunBytes: number = 30;

/** `took`: the task is another than before; `moved`: this heartbeat tells of a call, use of tokens, or progress. */
export function unbegunAfter(
  before: Unbegun,
  took: boolean,
  moved: boolean,
  beat: Beat,
  { watched }: Receipt,
): Unbegun {
  if (beat.task_id === null) return null;
  if (!took && before === null) return null;
  if (moved || AT_IT.has(beat.activity)) return null;
  return took ? watched : before;
}

const AT_IT: ReadonlySet<Beat['activity']> = new Set<Beat['activity']>(['working', 'handing_off', 'finished']);
