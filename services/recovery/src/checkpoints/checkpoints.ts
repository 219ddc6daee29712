import {
  type CheckpointRef,
  type EventOf,
  holdsOnOneHost,
  isCheckpointAddress,
  onEveryHost,
  type SkippedCheckpoint,
  type Topic,
} from '@vigil/events';

/** How many checkpoints of a task are kept. */
const KEPT = 8;
/** Characters of work lists that are kept with a checkpoint. Longer lists are only in its file. */
const LONGEST_WORK = 4096;

/**
 * A checkpoint as recovery keeps it. `writtenAt`: by its time on the brokers' clock, or when it was first reported if it
 * has none; null: an older version recorded it. `agentId`: who reported it, by whose clock `createdAt` is.
 */
export type KnownCheckpoint = CheckpointRef & { readonly writtenAt: number | null; readonly agentId: string | null };

type Recorded = EventOf<typeof Topic.taskCheckpoint>;

export const knownFrom = ({ payload, occurredAt }: Recorded): KnownCheckpoint => {
  const { checkpoint, agentId } = payload;
  const { createdAt } = checkpoint;
  const placed = createdAt === null ? occurredAt : (payload.writtenAt ?? Math.min(createdAt, occurredAt));
  return bounded({ ...checkpoint, agentId, writtenAt: placed });
};

/** The checkpoint as events have it. */
export const checkpointIn = ({ writtenAt: _, agentId: __, ...checkpoint }: KnownCheckpoint): CheckpointRef =>
  checkpoint;

/**
 * Adds a checkpoint in its place: oldest first by the time at which they were written, else in the order of reports. One
 * that a known checkpoint names as its parent goes before that one. Id and time are its identity: the same one keeps its
 * place and is updated, a later version takes the place of the earlier, and an earlier version changes nothing.
 */
export const rememberCheckpoint = (
  known: readonly KnownCheckpoint[],
  reported: KnownCheckpoint,
): readonly KnownCheckpoint[] => {
  const checkpoint = onEveryHost(withAddress(bounded(reported)));
  const old = known.find(({ checkpointId }) => checkpointId === checkpoint.checkpointId);
  if (old === undefined) return inserted(known, checkpoint);
  if (checkpoint.createdAt !== null && old.createdAt !== null && isWrittenAfter(old, checkpoint)) return known;
  if (checkpoint.createdAt !== null && isWrittenAfter(checkpoint, old))
    return inserted(
      known.filter((one) => one !== old),
      checkpoint,
    );
  const same = checkpoint.valid === null ? withValidity(checkpoint, onEveryHost(old)) : checkpoint;
  if (checkpoint.createdAt !== null && old.createdAt === null)
    return inserted(
      known.filter((one) => one !== old),
      same,
    );
  const { createdAt } = old;
  const agentId = old.agentId ?? same.agentId;
  return known.with(known.indexOf(old), { ...same, agentId, createdAt, writtenAt: old.writtenAt ?? same.writtenAt });
};

const inserted = (known: readonly KnownCheckpoint[], checkpoint: KnownCheckpoint): readonly KnownCheckpoint[] => {
  const after = known.findLastIndex((one) => !isWrittenAfter(one, checkpoint)) + 1;
  const child = known.findIndex((one) => one.parentId === checkpoint.checkpointId);
  return known.toSpliced(child < 0 ? after : Math.min(after, child), 0, checkpoint).slice(-KEPT);
};

/** A smaller difference between clocks may be the delay of a heartbeat. Milliseconds. */
const LEAST_STEP_MS = 60_000;

/**
 * Times of one clock are compared as sent, which is exact. Those of different clocks, or of a clock that was set, are
 * compared on the brokers' clock. What has no time is not after another.
 */
const isWrittenAfter = (one: KnownCheckpoint, other: KnownCheckpoint): boolean => {
  const isLaterAsSent = one.createdAt !== null && other.createdAt !== null && one.createdAt > other.createdAt;
  if (one.createdAt !== null && one.createdAt === other.createdAt) return false;
  if (one.writtenAt === null || other.writtenAt === null || one.writtenAt === other.writtenAt) return isLaterAsSent;
  return isOfOneClock(one, other) ? isLaterAsSent : one.writtenAt > other.writtenAt;
};

const isOfOneClock = (one: KnownCheckpoint, other: KnownCheckpoint): boolean => {
  if (one.agentId !== other.agentId || one.createdAt === null || other.createdAt === null) return false;
  const [step, otherStep] = [one.createdAt - (one.writtenAt ?? 0), other.createdAt - (other.writtenAt ?? 0)];
  return Math.abs(step - otherStep) < LEAST_STEP_MS;
};

/** One checkpoint at a moment: an update in place has the same id and a later time. */
export type CheckpointVersion = Pick<CheckpointRef, 'checkpointId' | 'createdAt'>;

export const newestOf = (known: readonly KnownCheckpoint[]): CheckpointVersion | null => {
  const newest = known.at(-1);
  return newest === undefined ? null : { checkpointId: newest.checkpointId, createdAt: newest.createdAt };
};

/** Whether a checkpoint that is not known to be invalid has been written since this was the newest; null: since there was none. */
export const hasNewerThan = (since: CheckpointVersion | null, known: readonly KnownCheckpoint[]): boolean => {
  const at = known.findIndex((one) => one.checkpointId === since?.checkpointId);
  return known.some((one, i) => one.valid !== false && (i > at || (i === at && isUpdated(one, since))));
};

/** An earlier version of a known checkpoint is not kept, so another time is a later one. */
const isUpdated = ({ createdAt }: KnownCheckpoint, since: CheckpointVersion | null): boolean =>
  createdAt !== null && since !== null && since.createdAt !== null && createdAt !== since.createdAt;

/**
 * Adds a checkpoint that another record repeats. A validity that was established since stays. So do the lists of work,
 * where the record has none: the evaluator keeps a checkpoint without them. It places its time on the brokers' clock.
 */
export const repeatCheckpoint = (
  known: readonly KnownCheckpoint[],
  reported: CheckpointRef,
  agentId: string,
): readonly KnownCheckpoint[] => {
  const old = known.find(({ checkpointId }) => checkpointId === reported.checkpointId);
  const repeated = { ...reported, agentId, createdAt: null, writtenAt: reported.createdAt };
  if (old === undefined) return rememberCheckpoint(known, repeated);
  const { completedWork, remainingWork } = hasWork(reported) ? reported : old;
  return rememberCheckpoint(known, { ...repeated, completedWork, remainingWork, valid: null, invalidReason: null });
};

const hasWork = ({ completedWork, remainingWork }: CheckpointRef): boolean =>
  completedWork.length + remainingWork.length > 0;

const withValidity = (checkpoint: KnownCheckpoint, { valid, invalidReason }: CheckpointRef): KnownCheckpoint => ({
  ...checkpoint,
  valid,
  invalidReason,
});

const bounded = (checkpoint: KnownCheckpoint): KnownCheckpoint =>
  JSON.stringify([checkpoint.completedWork, checkpoint.remainingWork]).length > LONGEST_WORK
    ? { ...checkpoint, completedWork: [], remainingWork: [] }
    : checkpoint;

/** A writer to Kafka passes no gateway: an address that ingest would refuse is not shown to the next agent. */
const withAddress = (checkpoint: KnownCheckpoint): KnownCheckpoint =>
  checkpoint.uri === null || isCheckpointAddress(checkpoint.uri)
    ? checkpoint
    : { ...checkpoint, uri: null, valid: false, invalidReason: 'address_not_allowed' };

const NOT_HERE = 'not_here';
/** The last eight checkpoints of a task at eight runtimes. */
const ABSENCES_KEPT = 64;

/** A checkpoint that a runtime did not find, or could not read. `why` absent: `not_here` */
export type Absence = { readonly checkpointId: string; readonly runtimeId: string; readonly why?: string };

type Read = { readonly checkpoints: readonly KnownCheckpoint[]; readonly absent: readonly Absence[] };

/** Updates the checkpoints by what a runtime found when it read them. */
export const readAt = (
  runtimeId: string,
  { checkpoints, absent }: Read,
  skipped: readonly SkippedCheckpoint[],
): Read => {
  const spoilt = skipped.filter(({ why }) => !holdsOnOneHost(why));
  const missed = seenFrom(runtimeId, { checkpoints, absent })
    .filter((one) => one.valid !== false)
    .flatMap(({ checkpointId }) => {
      const skip = skipped.find((one) => one.checkpointId === checkpointId && holdsOnOneHost(one.why));
      return skip ? [{ checkpointId, runtimeId, why: skip.why }] : [];
    });
  return { checkpoints: markInvalid(checkpoints, spoilt), absent: [...absent, ...missed].slice(-ABSENCES_KEPT) };
};

const markInvalid = (
  known: readonly KnownCheckpoint[],
  skipped: readonly SkippedCheckpoint[],
): readonly KnownCheckpoint[] =>
  known.map((one) => {
    const skip = skipped.find((other) => other.checkpointId === one.checkpointId);
    return skip ? { ...one, valid: false, invalidReason: skip.why } : one;
  });

/** The checkpoints as this runtime sees them. */
export const seenFrom = (runtimeId: string, { checkpoints, absent }: Read): readonly KnownCheckpoint[] =>
  checkpoints.map((one) => {
    const absence = absent.find((other) => other.checkpointId === one.checkpointId && other.runtimeId === runtimeId);
    return absence && one.valid !== false ? { ...one, valid: false, invalidReason: absence.why ?? NOT_HERE } : one;
  });

/** The location of a checkpoint; a path where it is a file. */
export const pathOf = (checkpoint: CheckpointRef | undefined): string | null =>
  checkpoint?.uri?.replace(/^file:\/\//, '') ?? null;
