import {
  type CheckpointRef,
  holdsOnOneHost,
  isCheckpointAddress,
  onEveryHost,
  type SkippedCheckpoint,
} from '@vigil/events';

/** How many checkpoints of a task are kept. */
const KEPT = 8;
/** Characters of work lists that are kept with a checkpoint. Longer lists are only in its file. */
const LONGEST_WORK = 4096;

/**
 * Adds a checkpoint as the newest. A known one keeps its place and is updated; if it was written again since, it is the
 * newest. One that a known checkpoint names as its parent goes before that one.
 */
export const rememberCheckpoint = (
  known: readonly CheckpointRef[],
  reported: CheckpointRef,
): readonly CheckpointRef[] => {
  const checkpoint = onEveryHost(withAddress(bounded(reported)));
  const at = known.findIndex((one) => one.checkpointId === checkpoint.checkpointId);
  const old = known[at];
  if (old && isLater(checkpoint, old)) return [...known.toSpliced(at, 1), checkpoint];
  if (old) return known.with(at, checkpoint.valid === null ? withValidity(checkpoint, onEveryHost(old)) : checkpoint);
  const child = known.findIndex((one) => one.parentId === checkpoint.checkpointId);
  return known.toSpliced(child < 0 ? known.length : child, 0, checkpoint).slice(-KEPT);
};

/** One checkpoint at a moment: an update in place has the same id and a later time. */
export type CheckpointVersion = Pick<CheckpointRef, 'checkpointId' | 'createdAt'>;

/** Its agent has updated it in place: an earlier finding about its file does not hold. */
const isLater = ({ createdAt }: CheckpointVersion, old: CheckpointVersion): boolean =>
  createdAt !== null && old.createdAt !== null && createdAt > old.createdAt;

export const newestOf = (known: readonly CheckpointRef[]): CheckpointVersion | null => {
  const newest = known.at(-1);
  return newest === undefined ? null : { checkpointId: newest.checkpointId, createdAt: newest.createdAt };
};

/** Whether a checkpoint that is not known to be invalid has been written since this was the newest; null: since there was none. */
export const hasNewerThan = (since: CheckpointVersion | null, known: readonly CheckpointRef[]): boolean => {
  const at = known.findIndex((one) => one.checkpointId === since?.checkpointId);
  return known.some((one, i) => one.valid !== false && (i > at || (since !== null && isLater(one, since) && i === at)));
};

/**
 * Adds a checkpoint that another record repeats. A validity that was established since stays. So do the lists of work,
 * where the record has none: the evaluator keeps a checkpoint without them.
 */
export const repeatCheckpoint = (
  known: readonly CheckpointRef[],
  reported: CheckpointRef,
): readonly CheckpointRef[] => {
  const old = known.find(({ checkpointId }) => checkpointId === reported.checkpointId);
  if (old === undefined) return rememberCheckpoint(known, reported);
  const { completedWork, remainingWork } = hasWork(reported) ? reported : old;
  // The evaluator places the time of a checkpoint on the brokers' clock.
  const { createdAt } = old;
  const repeated = { ...reported, createdAt, completedWork, remainingWork, valid: null, invalidReason: null };
  return rememberCheckpoint(known, repeated);
};

const hasWork = ({ completedWork, remainingWork }: CheckpointRef): boolean =>
  completedWork.length + remainingWork.length > 0;

const withValidity = (checkpoint: CheckpointRef, { valid, invalidReason }: CheckpointRef): CheckpointRef => ({
  ...checkpoint,
  valid,
  invalidReason,
});

const bounded = (checkpoint: CheckpointRef): CheckpointRef =>
  JSON.stringify([checkpoint.completedWork, checkpoint.remainingWork]).length > LONGEST_WORK
    ? { ...checkpoint, completedWork: [], remainingWork: [] }
    : checkpoint;

/** A writer to Kafka passes no gateway: an address that ingest would refuse is not shown to the next agent. */
const withAddress = (checkpoint: CheckpointRef): CheckpointRef =>
  checkpoint.uri === null || isCheckpointAddress(checkpoint.uri)
    ? checkpoint
    : { ...checkpoint, uri: null, valid: false, invalidReason: 'address_not_allowed' };

const NOT_HERE = 'not_here';
/** The last eight checkpoints of a task at eight runtimes. */
const ABSENCES_KEPT = 64;

/** A checkpoint that a runtime did not find, or could not read. `why` absent: `not_here` */
export type Absence = { readonly checkpointId: string; readonly runtimeId: string; readonly why?: string };

type Read = { readonly checkpoints: readonly CheckpointRef[]; readonly absent: readonly Absence[] };

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
  known: readonly CheckpointRef[],
  skipped: readonly SkippedCheckpoint[],
): readonly CheckpointRef[] =>
  known.map((one) => {
    const skip = skipped.find((other) => other.checkpointId === one.checkpointId);
    return skip ? { ...one, valid: false, invalidReason: skip.why } : one;
  });

/** The checkpoints as this runtime sees them. */
export const seenFrom = (runtimeId: string, { checkpoints, absent }: Read): readonly CheckpointRef[] =>
  checkpoints.map((one) => {
    const absence = absent.find((other) => other.checkpointId === one.checkpointId && other.runtimeId === runtimeId);
    return absence && one.valid !== false ? { ...one, valid: false, invalidReason: absence.why ?? NOT_HERE } : one;
  });

/** Newest first along parents. Where a parent is not named or not known, the one recorded before follows. */
export const chain = (known: readonly CheckpointRef[]): readonly CheckpointRef[] => {
  const found: CheckpointRef[] = [];
  let at = known.length - 1;
  for (let one = known[at]; one; one = known[at]) {
    found.push(one);
    const { parentId } = one;
    const parent = parentId === null ? -1 : known.findIndex((other) => other.checkpointId === parentId);
    at = parent >= 0 && parent < at ? parent : at - 1;
  }
  return found;
};

/**
 * The checkpoints that a new agent may start from, newest first, and those that were skipped. A checkpoint of unknown validity counts as
 * valid: the runtime reads the file.
 */
export const usable = (
  known: readonly CheckpointRef[],
): {
  readonly from: readonly CheckpointRef[];
  readonly skipped: readonly SkippedCheckpoint[];
} => {
  const all = chain(known);
  return {
    from: all.filter((one) => one.valid !== false),
    skipped: all
      .filter((one) => one.valid === false)
      .map(({ checkpointId, invalidReason }) => ({ checkpointId, why: invalidReason ?? 'invalid' })),
  };
};

/** The location of a checkpoint; a path where it is a file. */
export const pathOf = (checkpoint: CheckpointRef | undefined): string | null =>
  checkpoint?.uri?.replace(/^file:\/\//, '') ?? null;
