import { type Decider, NEVER } from '@vigil/stream';
import { liftsFrom } from './brake.ts';
import { stepDueAt } from './budget.ts';
import { decide } from './decide.ts';
import { evolve } from './evolve.ts';
import { observe } from './observe.ts';
import type { GovernorSettings } from './settings.ts';
import { type GovernorDraft, type GovernorInput, type GovernorState, initial } from './state.ts';

/** The first step that waits for its turn or for the brake, and the lifting of the brake. */
const dueAt = (state: GovernorState, settings: GovernorSettings): number =>
  state.requests.reduce(
    (first, request) => (request.kind === 'step' ? Math.min(first, stepDueAt(state, request, settings)) : first),
    state.brake ? liftsFrom(state.brake, settings) : NEVER,
  );

/** The one place that admits or withholds steps and spawns for the whole fleet. */
export const decider = (settings: GovernorSettings): Decider<GovernorState, GovernorInput, GovernorDraft> => ({
  initial,
  observe: observe(settings),
  decide: decide(settings),
  evolve: evolve(settings),
  dueAt: (state) => dueAt(state, settings),
});
