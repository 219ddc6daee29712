import { type CheckpointRef, holdsOnOneHost, onEveryHost, type SkippedCheckpoint } from '@vigil/events';

/** The last of a task that are remembered. */
const kept = 8;
/** Characters of work lists a checkpoint is remembered with; beyond them only its file tells. */
const longestWork = 4096;

/**
 * Adds a checkpoint as the newest; one that is known already stays where it is and learns what is new about it;
 * one that a known one names as its parent goes right before that.
 */
export function rememberCheckpoint(known: readonly CheckpointRef[], reported: CheckpointRef): readonly CheckpointRef[] {
  const checkpoint = onEveryHost(bounded(reported));
  const at = known.findIndex((one) => one.checkpointId === checkpoint.checkpointId);
  const old = known[at];
  if (old) return known.with(at, checkpoint.valid === null ? withValidity(checkpoint, onEveryHost(old)) : checkpoint);
  const child = known.findIndex((one) => one.parentId === checkpoint.checkpointId);
  return known.toSpliced(child < 0 ? known.length : child, 0, checkpoint).slice(-kept);
}

/** A checkpoint that somebody repeats: validity that was established since stays. */
export function repeatCheckpoint(known: readonly CheckpointRef[], reported: CheckpointRef): readonly CheckpointRef[] {
  const isKnown = known.some(({ checkpointId }) => checkpointId === reported.checkpointId);
  return rememberCheckpoint(known, isKnown ? { ...reported, valid: null, invalidReason: null } : reported);
}

const withValidity = (checkpoint: CheckpointRef, { valid, invalidReason }: CheckpointRef): CheckpointRef => ({
  ...checkpoint,
  valid,
  invalidReason,
});

const bounded = (checkpoint: CheckpointRef): CheckpointRef =>
  JSON.stringify([checkpoint.completedWork, checkpoint.remainingWork]).length > longestWork
    ? { ...checkpoint, completedWork: [], remainingWork: [] }
    : checkpoint;

const notHere = 'not_here';
/** The last eight of a task at eight runtimes. */
const absencesKept = 64;

/** A checkpoint that was not found at a runtime, or could not be read there. `why` absent: `not_here` */
export type Absence = { readonly checkpointId: string; readonly runtimeId: string; readonly why?: string };

type Read = { readonly checkpoints: readonly CheckpointRef[]; readonly absent: readonly Absence[] };

/** What a runtime has found of the checkpoints that it read. */
export function readAt(runtimeId: string, { checkpoints, absent }: Read, skipped: readonly SkippedCheckpoint[]): Read {
  const spoilt = skipped.filter(({ why }) => !holdsOnOneHost(why));
  const missed = seenFrom(runtimeId, { checkpoints, absent })
    .filter((one) => one.valid !== false)
    .flatMap(({ checkpointId }) => {
      const skip = skipped.find((one) => one.checkpointId === checkpointId && holdsOnOneHost(one.why));
      return skip ? [{ checkpointId, runtimeId, why: skip.why }] : [];
    });
  return { checkpoints: markInvalid(checkpoints, spoilt), absent: [...absent, ...missed].slice(-absencesKept) };
}

const markInvalid = (
  known: readonly CheckpointRef[],
  skipped: readonly SkippedCheckpoint[],
): readonly CheckpointRef[] =>
  known.map((one) => {
    const skip = skipped.find((other) => other.checkpointId === one.checkpointId);
    return skip ? { ...one, valid: false, invalidReason: skip.why } : one;
  });

/** The checkpoints as they are at this runtime. */
export const seenFrom = (runtimeId: string, { checkpoints, absent }: Read): readonly CheckpointRef[] =>
  checkpoints.map((one) => {
    const absence = absent.find((other) => other.checkpointId === one.checkpointId && other.runtimeId === runtimeId);
    return absence && one.valid !== false ? { ...one, valid: false, invalidReason: absence.why ?? notHere } : one;
  });

/** Newest first along parents; where a parent is not named or not known, the one remembered before. */
export function chain(known: readonly CheckpointRef[]): readonly CheckpointRef[] {
  const found: CheckpointRef[] = [];
  let at = known.length - 1;
  for (let one = known[at]; one; one = known[at]) {
    found.push(one);
    const { parentId } = one;
    const parent = parentId === null ? -1 : known.findIndex((other) => other.checkpointId === parentId);
    at = parent >= 0 && parent < at ? parent : at - 1;
  }
  return found;
}

/** What a fresh agent may start from, newest first, and what was passed over. Validity that nobody has established counts as valid: the runtime reads the file. */
export function usable(known: readonly CheckpointRef[]): {
  readonly from: readonly CheckpointRef[];
  readonly skipped: readonly SkippedCheckpoint[];
} {
  const all = chain(known);
  return {
    from: all.filter((one) => one.valid !== false),
    skipped: all
      .filter((one) => one.valid === false)
      .map(({ checkpointId, invalidReason }) => ({ checkpointId, why: invalidReason ?? 'invalid' })),
  };
}

/** Where a checkpoint lies, as a path where it is a file. */
export const pathOf = (checkpoint: CheckpointRef | undefined): string | null =>
  checkpoint?.uri?.replace(/^file:\/\//, '') ?? null;
