import type { CheckpointRef } from '@vigil/events';
import type { RecoverySettings } from '@vigil/policy';
import type { AtRest } from '@vigil/stream';
import type { KnownCheckpoint } from '../checkpoints/checkpoints.ts';
import type { Recovery, Subject } from './state.ts';

/**
 * The stored form of a task's state. Shape 10 added the rule of the policy for a new count of attempts, and the checkpoint
 * at the last death. Shape 11 added when and by whom a checkpoint was written, and the claims.
 */
export const AT_REST: AtRest<Recovery> = {
  oldest: 9,
  upgrades: [
    { usual: null, to: (state) => withReset(state as ShapeNine) },
    { usual: null, to: (state) => withTimes(state as ShapeTen) },
  ],
  usual: null,
};

type ShapeTen = Omit<Recovery, 'checkpoints' | 'claims'> & { readonly checkpoints: readonly CheckpointRef[] };

type ShapeNine = Omit<ShapeTen, 'checkpointAtDeath' | 'subject'> & {
  readonly subject:
    | (Omit<Subject, 'settings'> & {
        readonly settings: Omit<RecoverySettings, 'resetAttempts' | 'maxAttemptsPerHour'>;
      })
    | null;
};

/** Which checkpoint was the newest at the last death is not known: only those written from now on are newer. */
const withReset = (state: ShapeNine): ShapeTen => {
  const newest = state.checkpoints.at(-1);
  return {
    ...state,
    checkpointAtDeath:
      state.subject === null || newest === undefined
        ? null
        : { checkpointId: newest.checkpointId, createdAt: newest.createdAt },
    subject: state.subject && {
      ...state.subject,
      settings: { ...state.subject.settings, resetAttempts: 'after_stable', maxAttemptsPerHour: null },
    },
  };
};

/** They keep their order. Their times are not on the brokers' clock. */
const withTimes = (state: ShapeTen): Recovery => ({
  ...state,
  checkpoints: state.checkpoints.map((one): KnownCheckpoint => ({ ...one, writtenAt: null, agentId: null })),
  claims: [],
});
