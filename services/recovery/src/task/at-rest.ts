import type { RecoverySettings } from '@vigil/policy';
import type { AtRest } from '@vigil/stream';
import { newestOf } from '../checkpoints/checkpoints.ts';
import type { Recovery, Subject } from './state.ts';

/** The stored form of a task's state. Shape 10 added the rule of the policy for a new count of attempts, and the checkpoint at the last death. */
export const AT_REST: AtRest<Recovery> = {
  oldest: 9,
  upgrades: [{ usual: null, to: (state) => withReset(state as ShapeNine) }],
  usual: null,
};

type ShapeNine = Omit<Recovery, 'checkpointAtDeath' | 'subject'> & {
  readonly subject:
    | (Omit<Subject, 'settings'> & {
        readonly settings: Omit<RecoverySettings, 'resetAttempts' | 'maxAttemptsPerHour'>;
      })
    | null;
};

/** Which checkpoint was the newest at the last death is not known: only those written from now on are newer. */
const withReset = (state: ShapeNine): Recovery => ({
  ...state,
  checkpointAtDeath: state.subject && newestOf(state.checkpoints),
  subject: state.subject && {
    ...state.subject,
    settings: { ...state.subject.settings, resetAttempts: 'after_stable', maxAttemptsPerHour: null },
  },
});
