import type { CheckpointRef, SkippedCheckpoint } from '@vigil/events';

/** The last of a task that are remembered. */
const kept = 8;
/** Characters of work lists a checkpoint is remembered with; beyond them only its file tells. */
const longestWork = 4096;

/**
 * Adds a checkpoint as the newest; one that is known already stays where it is and learns what is new about it;
 * one that a known one names as its parent goes right before that.
 */
export function rememberCheckpoint(known: readonly CheckpointRef[], told: CheckpointRef): readonly CheckpointRef[] {
  const checkpoint = bounded(told);
  const at = known.findIndex((one) => one.checkpointId === checkpoint.checkpointId);
  const old = known[at];
  if (old) return known.with(at, old.valid === false ? old : checkpoint);
  const child = known.findIndex((one) => one.parentId === checkpoint.checkpointId);
  return known.toSpliced(child < 0 ? known.length : child, 0, checkpoint).slice(-kept);
}

const bounded = (checkpoint: CheckpointRef): CheckpointRef =>
  JSON.stringify([checkpoint.completedWork, checkpoint.remainingWork]).length > longestWork
    ? { ...checkpoint, completedWork: [], remainingWork: [] }
    : checkpoint;

export const markInvalid = (
  known: readonly CheckpointRef[],
  skipped: readonly SkippedCheckpoint[],
): readonly CheckpointRef[] =>
  known.map((one) => {
    const skip = skipped.find((other) => other.checkpointId === one.checkpointId);
    return skip ? { ...one, valid: false, invalidReason: skip.why } : one;
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
