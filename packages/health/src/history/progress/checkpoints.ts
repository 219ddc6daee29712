import { type Checkpoint, type CheckpointRef, checkpointRef, onEveryHost } from '@vigil/events';
import { type Heartbeat, instant, type Receipt } from '../moment.ts';

export type Checkpoints = {
  /** whether the agent declares that it writes checkpoints; then their age counts from the start until the first */
  readonly reports: boolean;
  readonly mark: number | null;
  /** when the newest was written, by the agent's own clock, epoch milliseconds; absent: not reported, or the state is older than this */
  readonly stamp?: number;
  /** the number of remaining work items in the newest checkpoint */
  readonly remaining: number;
  /** without its lists of work, which recovery has from the task's checkpoints */
  readonly newest: CheckpointRef | null;
};

export const NO_CHECKPOINTS: Checkpoints = { reports: false, mark: null, remaining: 0, newest: null };

export const checkpointsAfter = (before: Checkpoints, heartbeat: Heartbeat, receipt: Receipt): Checkpoints => {
  const reports = heartbeat.reports_checkpoints ?? (before.reports || heartbeat.checkpoint !== null);
  const { checkpoint } = heartbeat;
  if (checkpoint === null || !isNewCheckpoint(before, checkpoint, receipt)) {
    const newest = checked(before.newest, checkpoint);
    return reports === before.reports && newest === before.newest ? before : { ...before, reports, newest };
  }
  const mark = instant(receipt, checkpoint.created_at).watched;
  const stamp = checkpoint.created_at === null ? {} : { stamp: checkpoint.created_at };
  const remaining = checkpoint.remaining_work.length;
  return { reports, mark, ...stamp, remaining, newest: refOf(checkpoint, receipt) };
};

/**
 * A checkpoint is new if it was written later than the newest one, also under the same id (CODITECT compares times). An
 * older one that is reported again is not. Where a time is missing, another id is new.
 */
export const isNewCheckpoint = (
  { newest, stamp }: Pick<Checkpoints, 'newest' | 'stamp'>,
  { checkpoint_id, created_at }: Checkpoint,
  { now, stamp: sentAt }: Receipt,
): boolean => {
  const isAnother = checkpoint_id !== newest?.checkpointId;
  if (newest === null || created_at === null) return isAnother;
  // Two that are written in one tick of a coarse clock differ by their ids.
  if (stamp !== undefined) return created_at > stamp || (created_at === stamp && isAnother);
  return isAnother || (newest.createdAt !== null && now - (sentAt - created_at) > newest.createdAt);
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
