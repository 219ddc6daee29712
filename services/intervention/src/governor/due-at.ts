import { type Clock, NEVER } from '@vigil/stream';
import { liftsFrom } from './brake.ts';
import { stepFreeFrom } from './budget.ts';
import type { GovernorSettings } from './settings.ts';
import type { GovernorState } from './state.ts';

/** The first of those who wait, and the brake. */
export const dueAt =
  (settings: GovernorSettings) =>
  (state: GovernorState, _clock: Clock): number => {
    const lift = state.brake ? liftsFrom(state.brake, settings) : NEVER;
    return state.asked.reduce(
      (first, asked) => (asked.kind === 'step' ? Math.min(first, stepFreeFrom(state, asked, settings)) : first),
      lift,
    );
  };
