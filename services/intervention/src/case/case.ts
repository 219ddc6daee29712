import type { Decider } from '@vigil/stream';
import { decide } from './decide.ts';
import { dueAt } from './due-at.ts';
import { evolve } from './evolve.ts';
import { dated, forgetAt } from './forgetting.ts';
import { observe } from './observe.ts';
import { type CaseDraft, type CaseInput, type CaseState, initial } from './state.ts';

/**
 * One agent's case: a warrant, or a person's request, worked step by step. Read state.ts first, then observe.ts, decide.ts, evolve.ts,
 * due-at.ts; each kind of step is a file of steps/.
 */
export const decider: Decider<CaseState, CaseInput, CaseDraft> = {
  initial,
  observe: (state, input, clock) => dated(observe(state, input, clock), clock.now),
  decide,
  evolve,
  dueAt,
  forgets: (state, { now }) => now >= forgetAt(state),
};
