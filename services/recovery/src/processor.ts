import { Topic } from '@vigil/events';
import type { Decider, DeciderProcessor } from '@vigil/stream';
import { AT_REST } from './task/at-rest.ts';
import { decide, dueAt } from './task/decide.ts';
import type { Output } from './task/drafts.ts';
import { evolve } from './task/evolve.ts';
import { type Input, observe } from './task/observe.ts';
import { initial, type Recovery } from './task/state.ts';

const IDLE_MS = 7 * 24 * 60 * 60_000;

/** A task without an agent is forgotten a week after its last event, with its count of attempts. A count that only people reset stays. */
const forgetAt = ({ situation, assignees, observedAt, attempts, subject }: Recovery): number => {
  const keepsCount = attempts > 0 && subject?.settings.resetAttempts === 'by_people';
  const rests = (situation.kind === 'idle' || situation.kind === 'stable') && !keepsCount;
  return rests && assignees.length === 0 && observedAt !== undefined ? observedAt + IDLE_MS : Number.POSITIVE_INFINITY;
};

/** Puts a new agent on a task whose agent has died: once, from the newest valid checkpoint, within limits that belong to the task. */
export const recovery: Decider<Recovery, Input, Output> = {
  initial,
  observe: (state, input, clock) => ({ ...observe(state, input, clock), observedAt: clock.now }),
  decide: (state, { now }, input) => decide(state, now, input),
  evolve,
  dueAt: (state, { now }) => Math.min(dueAt(state, now), forgetAt(state)),
  forgets: (state, { now }) => now >= forgetAt(state),
};

/** The task key space: one recovery per task. Its time comes from every partition of the evaluator. */
export const processor: DeciderProcessor<Recovery, Input['topic'], Output['topic']> = {
  processor: 'recovery',
  service: 'recovery',
  reads: [
    Topic.taskHealth,
    Topic.recoverTask,
    Topic.reviewTask,
    Topic.spawnRuling,
    Topic.spawnReceipt,
    Topic.taskCheckpoint,
  ],
  writes: [Topic.taskRecovery, Topic.admitStep, Topic.agentOrder, Topic.decideCase, Topic.agentHealthcheck],
  time: { topic: Topic.taskHealth, sources: 'every', everyMs: 5000 },
  ticks: [{ topic: Topic.taskRecovery, everyMs: 5000, to: 'same' }],
  decider: recovery,
  atRest: AT_REST,
};
