import { type Clock, NEVER } from '@vigil/stream';
import { liftsFrom } from './brake.ts';
import { stepFreeFrom, withheldBy } from './budget.ts';
import type { GovernorSettings } from './settings.ts';
import type { GovernorState } from './state.ts';

/** The first step that only waits for its turn, and the lifting of the brake. */
export const dueAt =
  (settings: GovernorSettings) =>
  (state: GovernorState, _clock: Clock): number => {
    const lift = state.brake ? liftsFrom(state.brake, settings) : NEVER;
    return state.requests.reduce(
      (first, request) =>
        request.kind === 'step' && withheldBy(state, request) === null
          ? Math.min(first, stepFreeFrom(state, request, settings))
          : first,
      lift,
    );
  };
