import type { Decider } from '@vigil/stream';
import { decide } from './decide.ts';
import { dueAt } from './due-at.ts';
import { evolve } from './evolve.ts';
import { observe } from './observe.ts';
import type { GovernorSettings } from './settings.ts';
import { type GovernorDraft, type GovernorInput, type GovernorState, initial } from './state.ts';

/** The one place that admits or withholds steps and spawns for the whole fleet. */
export const decider = (settings: GovernorSettings): Decider<GovernorState, GovernorInput, GovernorDraft> => ({
  initial,
  observe: observe(settings),
  decide: decide(settings),
  evolve,
  dueAt: dueAt(settings),
});
