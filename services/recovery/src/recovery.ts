import type { Decider } from '@vigil/stream';
import { decide, dueAt } from './decide.ts';
import { evolve } from './evolve.ts';
import { forgetAt } from './forgetting.ts';
import { type Input, observe } from './observe.ts';
import type { Output } from './say.ts';
import { initial, type Recovery } from './state.ts';

/** Puts a fresh agent on a task whose agent has died: once, from the newest valid checkpoint, within limits that outlive agents. */
export const recovery: Decider<Recovery, Input, Output> = {
  initial,
  observe: (state, input, clock) => ({ ...observe(state, input, clock), heardAt: clock.now }),
  decide: (state, { now }) => decide(state, now),
  evolve,
  dueAt: (state, { now }) => Math.min(dueAt(state, now), forgetAt(state)),
  forgets: (state, { now }) => now >= forgetAt(state),
};
