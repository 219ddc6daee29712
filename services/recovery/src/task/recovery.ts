import type { Decider } from '@vigil/stream';
import { decide, dueAt } from './decide.ts';
import type { Output } from './drafts.ts';
import { evolve } from './evolve.ts';
import { type Input, observe } from './observe.ts';
import { initial, type Recovery } from './state.ts';

const idleMs = 7 * 24 * 60 * 60_000;

/** A task without an agent is forgotten a week after its last event, with its count of attempts. */
const forgetAt = ({ situation, assignees, observedAt }: Recovery): number => {
  const rests = situation.kind === 'idle' || situation.kind === 'stable';
  return rests && assignees.length === 0 && observedAt !== undefined ? observedAt + idleMs : Number.POSITIVE_INFINITY;
};

/** Puts a new agent on a task whose agent has died: once, from the newest valid checkpoint, within limits that belong to the task. */
export const recovery: Decider<Recovery, Input, Output> = {
  initial,
  observe: (state, input, clock) => ({ ...observe(state, input, clock), observedAt: clock.now }),
  decide: (state, { now }) => decide(state, now),
  evolve,
  dueAt: (state, { now }) => Math.min(dueAt(state, now), forgetAt(state)),
  forgets: (state, { now }) => now >= forgetAt(state),
};
