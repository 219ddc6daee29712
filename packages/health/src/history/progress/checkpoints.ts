import { type Checkpoint, type CheckpointRef, checkpointRef, onEveryHost } from '@vigil/events';
import { type Heartbeat, instant, placed, type Receipt } from '../moment.ts';

export type Checkpoints = {
  /** whether the agent declares that it writes checkpoints; then their age counts from the start until the first */
  readonly reports: boolean;
  readonly mark: number | null;
  /** when the newest was written, by the agent's own clock, epoch milliseconds; absent: not reported, or the state is older than this */
  readonly stamp?: number;
  /** the one with the latest time by the agent's own clock, where that clock was set back after it; absent: it was not */
  readonly latest?: { readonly id: string; readonly stamp: number };
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
  return { reports, mark, ...stamp, ...latestAfter(before, checkpoint), remaining, newest: refOf(checkpoint, receipt) };
};

const latestAfter = (
  { newest, stamp, latest }: Checkpoints,
  { created_at }: Checkpoint,
): Pick<Checkpoints, 'latest'> => {
  const known = latest === undefined ? {} : { latest };
  if (created_at === null || stamp === undefined || newest === null) return known;
  return created_at < stamp && stamp > (latest?.stamp ?? 0) ? { latest: { id: newest.checkpointId, stamp } } : known;
};

/**
 * A checkpoint is new if it was written later than the newest one, also under the same id (CODITECT compares times). An
 * older one that is reported again is not. Where a time is missing, another id is new. Times of one clock are compared as
 * sent, which is exact. If the newest one is in the future of that clock, its time was wrong or the clock was set back;
 * then they are compared on the broker's clock. After a silence in which the clock was set back, one that was written
 * since the previous receipt is new.
 */
export const isNewCheckpoint = (
  { newest, stamp, latest }: Pick<Checkpoints, 'newest' | 'stamp' | 'latest'>,
  { checkpoint_id, created_at }: Checkpoint,
  receipt: Receipt,
): boolean => {
  const isAnother = checkpoint_id !== newest?.checkpointId;
  if (newest === null || created_at === null) return isAnother;
  if (latest !== undefined && isFromBefore(latest, checkpoint_id, created_at, receipt)) return false;
  const placedAt = placed(receipt, created_at);
  const isLater = newest.createdAt !== null && placedAt > newest.createdAt;
  if (stamp === undefined) return isAnother || isLater;
  // Two that are written in one tick of a coarse clock differ by their ids.
  if (created_at === stamp) return isAnother;
  if (created_at > stamp) return true;
  if (created_at > receipt.stamp || !isLater) return false;
  return (
    stamp > receipt.stamp || (wasSetBack(stamp, newest, receipt) && placedAt > (receipt.previous?.now ?? placedAt))
  );
};

/** A smaller step of a clock may be the delay of a heartbeat. Milliseconds. */
const LEAST_STEP_MS = 60_000;

/** Whether the agent's clock is now behind what it was when the newest checkpoint was written. */
const wasSetBack = (stamp: number, { createdAt }: CheckpointRef, receipt: Receipt): boolean =>
  createdAt !== null && stamp - createdAt - (receipt.stamp - receipt.now) > LEAST_STEP_MS;

/** Whether a checkpoint is of the time before the clock was set back: then its time is in the future, or it is the last. */
const isFromBefore = (
  { id, stamp }: NonNullable<Checkpoints['latest']>,
  checkpointId: string,
  createdAt: number,
  receipt: Receipt,
): boolean => (checkpointId === id && createdAt === stamp) || (createdAt > receipt.stamp && createdAt <= stamp);

/** A runtime reads a checkpoint after the agent has reported it, so its validity comes later than its id. */
const checked = (known: CheckpointRef | null, checkpoint: Heartbeat['checkpoint']): CheckpointRef | null => {
  if (known === null || checkpoint === null) return known;
  // An older version stored the finding of one host as if it held on all hosts.
  const newest = onEveryHost(known);
  const { valid, invalidReason } = onEveryHost(checkpointRef(checkpoint));
  if (valid === null || (valid === newest.valid && invalidReason === newest.invalidReason)) return newest;
  return { ...newest, valid, invalidReason };
};

/** As the runtime of an ended agent reports it. `driftMs`: what the broker's clock is ahead of the runtime's */
export const checkpointAtEnd = (reported: CheckpointRef, driftMs: number, now: number): CheckpointRef => {
  const createdAt = reported.createdAt === null ? now : Math.min(now, reported.createdAt + driftMs);
  return { ...onEveryHost(reported), createdAt, completedWork: [], remainingWork: [] };
};

/** A file that is missing or unreadable on one host may be valid on another. Only recovery uses the lists of work. */
const refOf = (checkpoint: Checkpoint, receipt: Receipt): CheckpointRef => {
  const createdAt = checkpoint.created_at === null ? receipt.now : instant(receipt, checkpoint.created_at).now;
  return { ...onEveryHost(checkpointRef(checkpoint)), createdAt, completedWork: [], remainingWork: [] };
};
