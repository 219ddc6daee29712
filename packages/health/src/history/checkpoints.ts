import type { CheckpointRef } from '@vigil/events';
import { type Beat, type Fold, instant, type Receipt } from './moment.ts';

export type Checkpoints = {
  /** it says that it writes them: then its age counts from the start until the first */
  readonly reports: boolean;
  readonly mark: number | null;
  /** how many pieces of work the newest leaves */
  readonly remaining: number;
  /** without its lists of work: recovery has them from the task's checkpoints */
  readonly newest: CheckpointRef | null;
};

const NO_CHECKPOINTS: Checkpoints = { reports: false, mark: null, remaining: 0, newest: null };

export const checkpoints: Fold<Checkpoints> = {
  initial: () => NO_CHECKPOINTS,
  observe: (before, beat, receipt) => {
    const reports = beat.reports_checkpoints ?? (before.reports || beat.checkpoint !== null);
    const { checkpoint } = beat;
    if (!checkpoint || checkpoint.checkpoint_id === before.newest?.checkpointId)
      return reports === before.reports ? before : { ...before, reports };
    const mark = instant(receipt, checkpoint.created_at).watched;
    return { reports, mark, remaining: checkpoint.remaining_work.length, newest: refOf(checkpoint, receipt) };
  },
  largestBytes: 720,
};

function refOf(c: NonNullable<Beat['checkpoint']>, receipt: Receipt): CheckpointRef {
  return {
    checkpointId: c.checkpoint_id,
    parentId: c.parent_id,
    uri: c.uri,
    sha256: c.sha256,
    valid: c.valid,
    invalidReason: c.invalid_reason,
    createdAt: c.created_at === null ? receipt.now : instant(receipt, c.created_at).now,
    completedWork: [],
    remainingWork: [],
  };
}
