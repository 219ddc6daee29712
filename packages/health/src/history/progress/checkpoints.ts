import { type Checkpoint, type CheckpointRef, checkpointRef, onEveryHost } from '@vigil/events';
import { type Heartbeat, instant, type Receipt } from '../moment.ts';

export type Checkpoints = {
  /** whether the agent declares that it writes checkpoints; then their age counts from the start until the first */
  readonly reports: boolean;
  readonly mark: number | null;
  /** the number of remaining work items in the newest checkpoint */
  readonly remaining: number;
  /** without its lists of work, which recovery has from the task's checkpoints */
  readonly newest: CheckpointRef | null;
};

export const NO_CHECKPOINTS: Checkpoints = { reports: false, mark: null, remaining: 0, newest: null };

export const checkpointsAfter = (before: Checkpoints, heartbeat: Heartbeat, receipt: Receipt): Checkpoints => {
  const reports = heartbeat.reports_checkpoints ?? (before.reports || heartbeat.checkpoint !== null);
  const { checkpoint } = heartbeat;
  if (checkpoint === null || checkpoint.checkpoint_id === before.newest?.checkpointId) {
    const newest = checked(before.newest, checkpoint);
    return reports === before.reports && newest === before.newest ? before : { ...before, reports, newest };
  }
  const mark = instant(receipt, checkpoint.created_at).watched;
  return { reports, mark, remaining: checkpoint.remaining_work.length, newest: refOf(checkpoint, receipt) };
};

/** A runtime reads a checkpoint after the agent has reported it, so its validity comes later than its id. */
const checked = (known: CheckpointRef | null, checkpoint: Heartbeat['checkpoint']): CheckpointRef | null => {
  if (known === null || checkpoint === null) return known;
  // An older version stored the finding of one host as if it held on all hosts.
  const newest = onEveryHost(known);
  const { valid, invalidReason } = onEveryHost(checkpointRef(checkpoint));
  if (valid === null || (valid === newest.valid && invalidReason === newest.invalidReason)) return newest;
  return { ...newest, valid, invalidReason };
};

/** A file that is missing or unreadable on one host may be valid on another. Only recovery uses the lists of work. */
const refOf = (checkpoint: Checkpoint, receipt: Receipt): CheckpointRef => {
  const createdAt = checkpoint.created_at === null ? receipt.now : instant(receipt, checkpoint.created_at).now;
  return { ...onEveryHost(checkpointRef(checkpoint)), createdAt, completedWork: [], remainingWork: [] };
};
