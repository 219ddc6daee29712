import type { HealthState } from '@vigil/events';
import type { Step } from '@vigil/policy';
import { terminateByHand } from './matter.ts';
import { type Matter, notBegun, type Open, stepKey } from './open.ts';

const rank: Readonly<Record<HealthState, number>> = {
  UNKNOWN: 0,
  HEALTHY: 1,
  DEGRADED: 2,
  STUCK: 3,
  FAILING: 4,
  TERMINATED: 5,
};

/** The finding, brought up to date. Its plan stays, so that nothing in flight changes its rules; a worse state brings its own. */
export const replanned = (open: Open, found: Matter): Open => {
  const { matter } = open;
  const kept = { caseId: matter.caseId, by: matter.by, evidence: [], correlationId: matter.correlationId };
  const decided = matter.by !== null;
  if (decided) return { ...open, matter: { ...found, ...kept, ...asDecided(matter) } };
  if (rank[found.state] <= rank[matter.state] || found.steps.length === 0) {
    return { ...open, matter: { ...found, ...kept, ...planOf(matter) } };
  }
  return standingAt({ ...open, plans: [...open.plans, found.planName].slice(-8) }, { ...found, ...kept });
};

const planOf = ({ planName, steps, recovery, policy, state }: Matter) => ({ planName, steps, recovery, policy, state });

/** What people have decided rests on their word: it needs no lease, and nothing that the agent does unmakes its orders. */
const asDecided = (matter: Matter) => ({ ...planOf(matter), voidAt: null, awaits: null, foldedSequence: null });

/** At the first step not yet done: the one under way goes on where it stands, any other begins. What the agent has had is left out further on. */
const standingAt = (before: Open, matter: Matter): Open => {
  const open = { ...before, doneBefore: before.done };
  const undone = matter.steps.findIndex((step) => !open.done.includes(stepKey(step)));
  const index = undone < 0 ? matter.steps.length : undone;
  const current = open.matter.steps[open.index];
  const next = matter.steps[index];
  if (current && next && stepKey(current) === stepKey(next)) return { ...open, matter, index };
  return begun(open, matter, index);
};

/** A step that begins. What was asked for the former is withdrawn; what it has done counts as done. */
const begun = (open: Open, matter: Matter, index: number): Open => ({
  ...open,
  matter,
  index,
  work: { at: 'turn' },
  attempt: notBegun,
  withdrawing: open.work.at === 'asked' ? open.work.requestId : open.withdrawing,
});

/** The plan begins again, as if nothing had been done. */
export const restarted = (open: Open): Open => ({
  ...begun(open, open.matter, 0),
  done: [],
  doneBefore: [],
  nudges: [],
  escalated: false,
  answered: false,
});

/** People have decided, or asked by hand, that the task goes to another agent, and that is still to be done. */
export const isRecoveryDecided = ({ matter, index }: Open): boolean =>
  matter.by !== null && matter.steps.slice(index).some(({ step }) => step === 'recover');

/** People have decided: the agent is ended and its task put on a fresh one, whatever the plan was. */
export const terminating = (open: Open, by: string, terminate: Step): Open =>
  begun(
    { ...open, doneBefore: [], moreTime: { ...open.moreTime, until: 0 }, ending: null },
    {
      ...open.matter,
      ...asDecided(open.matter),
      by,
      steps: open.death ? [{ step: 'recover' }] : [terminate, { step: 'recover' }],
    },
    0,
  );

/** People have decided: the agent hands off by itself; where it does not in time, it is ended; its task goes to a fresh one. */
export const handingOff = (open: Open, by: string, handoff: Step): Open => {
  const planned = open.matter.steps.find(({ step }) => step === 'terminate') ?? terminateByHand;
  const steps: readonly Step[] = [handoff, { ...planned, requires: [] } as Step, { step: 'recover' }];
  return begun(
    { ...open, doneBefore: [], moreTime: { ...open.moreTime, until: 0 }, ending: null },
    { ...open.matter, ...asDecided(open.matter), by, steps },
    0,
  );
};

/** More time: nothing moves before `until`. What has been escalated stays a question until then. */
export const givenTime = (open: Open, until: number): Open => {
  const moreTime = { times: open.moreTime.times + 1, until };
  if (open.work.at === 'escalated') {
    const later = open.work.until === null ? null : Math.max(open.work.until, until);
    return { ...open, moreTime, work: { ...open.work, until: later } };
  }
  if (open.work.at !== 'asked') return { ...open, moreTime };
  return { ...open, moreTime, work: { at: 'turn' }, withdrawing: open.work.requestId };
};
