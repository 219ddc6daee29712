import type { Checkpoint, CheckpointRef, SkippedCheckpoint } from './generated/types.ts';

const ofOneHost: ReadonlySet<string> = new Set(['not_here', 'missing', 'unreadable']);

/**
 * Whether a reason for an invalid checkpoint holds on one host only. Another host may have the file or be able to read
 * it. Any other reason is a fault of the content.
 */
export const holdsOnOneHost = (reason: string): boolean => ofOneHost.has(reason);

/**
 * Whether a text is only an address. Fragments and queries do not name a file. A line break or another invisible
 * character would add an agent's own text to the prompt that shows the address.
 */
export const isCheckpointAddress = (uri: string): boolean => !/[#?\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(uri);

/** The checkpoint of a heartbeat, with the field names of Vigil's own events. */
export const checkpointRef = (checkpoint: Checkpoint): CheckpointRef => ({
  checkpointId: checkpoint.checkpoint_id,
  parentId: checkpoint.parent_id,
  uri: checkpoint.uri,
  sha256: checkpoint.sha256,
  valid: checkpoint.valid,
  invalidReason: checkpoint.invalid_reason,
  createdAt: checkpoint.created_at,
  completedWork: checkpoint.completed_work,
  remainingWork: checkpoint.remaining_work,
});

/** The reference to a checkpoint for every host. Each runtime checks by itself whether its host has the file. */
export const onEveryHost = <One extends CheckpointRef>(checkpoint: One): One =>
  checkpoint.invalidReason !== null && holdsOnOneHost(checkpoint.invalidReason)
    ? { ...checkpoint, valid: null, invalidReason: null }
    : checkpoint;

type Link = Pick<CheckpointRef, 'checkpointId' | 'parentId' | 'valid' | 'invalidReason'>;

/** `known`: oldest first. Newest first along parents. Where a parent is not named or not known, the one before follows. */
export const checkpointChain = <One extends Link>(known: readonly One[]): readonly One[] => {
  const found: One[] = [];
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
 * The checkpoints that a new agent may start from, newest first, and those that were skipped. `known`: oldest first. A
 * checkpoint of unknown validity counts as valid: the runtime reads the file.
 */
export const usableCheckpoints = <One extends Link>(
  known: readonly One[],
): {
  readonly from: readonly One[];
  readonly skipped: readonly SkippedCheckpoint[];
} => {
  const all = checkpointChain(known);
  return {
    from: all.filter((one) => one.valid !== false),
    skipped: all
      .filter((one) => one.valid === false)
      .map(({ checkpointId, invalidReason }) => ({ checkpointId, why: invalidReason ?? 'invalid' })),
  };
};
