import type { CheckpointRef } from './generated/types.ts';

const ofOneHost: ReadonlySet<string> = new Set(['not_here', 'missing', 'unreadable']);

/** Whether a reason for which a checkpoint is invalid holds on one host only: another host may have the file, or can read it. Any other reason is a fault of the content. */
export const holdsOnOneHost = (reason: string): boolean => ofOneHost.has(reason);

/** The reference to a checkpoint for every host. Each runtime finds out for itself whether its host has the file. */
export const onEveryHost = (checkpoint: CheckpointRef): CheckpointRef =>
  checkpoint.invalidReason !== null && holdsOnOneHost(checkpoint.invalidReason)
    ? { ...checkpoint, valid: null, invalidReason: null }
    : checkpoint;
