import type { PlannedStep } from '@vigil/policy';
import { isDoneBefore, notBegun, type Open, stepKey } from './open.ts';
import { advanced } from './stepping.ts';

/**
 * The step that a draft of this name is about: the first of that name from the current one on. The current one counts while it can still act;
 * a nudge that can send no more, an escalation that is over and a step that was done under another plan do not.
 */
export const at = (open: Open, name: string): Open => {
  const from = spent(open) ? open.index + 1 : open.index;
  const index = open.matter.steps.findIndex((one, i) => i >= from && one.step === name && !isDoneBefore(open, one));
  if (index < 0 || index === open.index) return open;
  return { ...open, index, work: { at: 'turn' }, attempt: notBegun, done: withCurrent(open) };
};

const actsOnce: ReadonlySet<PlannedStep['step']> = new Set(['handoff', 'interrupt', 'resume']);

const spent = ({ matter, index, work, attempt, answered, paused }: Open): boolean => {
  const step = matter.steps[index];
  // The last step of a plan may pause again.
  if (step?.step === 'pause') return attempt.sent > 0 && paused === null && index + 1 < matter.steps.length;
  if (work.at === 'escalated') return true;
  if (step?.step === 'nudge') return answered || attempt.sent >= step.attempts;
  if (step?.step === 'interrogate') return attempt.sent >= step.waitsMs.length;
  return step !== undefined && actsOnce.has(step.step) && attempt.sent > 0;
};

const withCurrent = ({ matter, index, work, attempt, done }: Open): Open['done'] => {
  const step = matter.steps[index];
  return step && (work.at === 'escalated' || attempt.sent > 0) ? [...done, stepKey(step)] : done;
};

/** The current step is done; the next begins. */
export const done = (open: Open): Open => {
  const step = open.matter.steps[open.index];
  return advanced({ ...open, done: step ? [...open.done, stepKey(step)] : open.done });
};
