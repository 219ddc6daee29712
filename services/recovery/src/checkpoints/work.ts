import type { CheckpointRef } from '@vigil/events';
import type { Subject } from '../task/state.ts';

/** The lists of work that a checkpoint or an ended agent left. */
export type Work = { readonly completed: readonly string[]; readonly remaining: readonly string[] };

/**
 * Completed and remaining work. The reported end of the dead instance counts, unless an older checkpoint than its last is used. Completed
 * work never remains.
 */
export const workFrom = (
  subject: Pick<Subject, 'checkpointId' | 'completedWork' | 'remainingWork'>,
  checkpoint: CheckpointRef | undefined,
): Work => {
  const reported = { completed: subject.completedWork, remaining: subject.remainingWork };
  const stored = { completed: checkpoint?.completedWork ?? [], remaining: checkpoint?.remainingWork ?? [] };
  const isEmpty = (work: Work) => work.completed.length + work.remaining.length === 0;
  const preferred =
    checkpoint === undefined || checkpoint.checkpointId === subject.checkpointId
      ? [reported, stored]
      : [stored, reported];
  const work = preferred.find((one) => !isEmpty(one)) ?? reported;
  return { ...work, remaining: work.remaining.filter((item) => !work.completed.includes(item)) };
};
