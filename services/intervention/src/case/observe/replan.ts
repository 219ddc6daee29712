import type { HealthState } from '@vigil/events';
import type { Step } from '@vigil/policy';
import { type ActiveCase, type CaseContext, notBegun, stepKey } from '../state.ts';
import { requestedTerminate } from './case-context.ts';

const rank: Readonly<Record<HealthState, number>> = {
  UNKNOWN: 0,
  HEALTHY: 1,
  DEGRADED: 2,
  STUCK: 3,
  FAILING: 4,
  TERMINATED: 5,
};

/** The finding, brought up to date. Its plan stays, so that nothing in flight changes its rules; a worse state brings its own. */
export const replanned = (activeCase: ActiveCase, found: CaseContext): ActiveCase => {
  const { caseContext } = activeCase;
  const { caseId, by, correlationId } = caseContext;
  const kept = { caseId, by, correlationId, evidence: [] };
  if (by !== null) return { ...activeCase, caseContext: { ...found, ...kept, ...asDecided(caseContext) } };
  if (rank[found.state] <= rank[caseContext.state] || found.steps.length === 0) {
    return { ...activeCase, caseContext: { ...found, ...kept, ...planOf(caseContext) } };
  }
  return standingAt({ ...activeCase, plans: [...activeCase.plans, found.planName].slice(-8) }, { ...found, ...kept });
};

const planOf = ({ planName, steps, recovery, policy, state }: CaseContext) => ({
  planName,
  steps,
  recovery,
  policy,
  state,
});

/** What people have decided rests on their word: it needs no lease, and nothing that the agent does unmakes its orders. */
const asDecided = (caseContext: CaseContext) => ({
  ...planOf(caseContext),
  voidAt: null,
  awaits: null,
  foldedSequence: null,
});

/** At the first step not yet done: the one under way continues where it is, any other begins. What the agent has had is left out further on. */
const standingAt = (before: ActiveCase, caseContext: CaseContext): ActiveCase => {
  const activeCase = { ...before, doneBefore: before.done };
  const undone = caseContext.steps.findIndex((step) => !activeCase.done.includes(stepKey(step)));
  const index = undone < 0 ? caseContext.steps.length : undone;
  const current = activeCase.caseContext.steps[activeCase.index];
  const next = caseContext.steps[index];
  if (current && next && stepKey(current) === stepKey(next)) return { ...activeCase, caseContext, index };
  return begun(activeCase, caseContext, index);
};

/** A step that begins. What was asked for the former is withdrawn; what it has done counts as done. */
const begun = (activeCase: ActiveCase, caseContext: CaseContext, index: number): ActiveCase => ({
  ...activeCase,
  caseContext,
  index,
  stepState: { kind: 'turn' },
  attempt: notBegun,
  withdrawing: activeCase.stepState.kind === 'asked' ? activeCase.stepState.requestId : activeCase.withdrawing,
});

/** The plan begins again, as if nothing had been done. */
export const restarted = (activeCase: ActiveCase): ActiveCase => ({
  ...begun(activeCase, activeCase.caseContext, 0),
  done: [],
  doneBefore: [],
  nudges: [],
  escalated: false,
  answered: false,
});

/** People have decided, or asked by hand, that the task goes to another agent, and that is still to be done. */
export const isRecoveryDecided = ({ caseContext, index }: ActiveCase): boolean =>
  caseContext.by !== null && caseContext.steps.slice(index).some(({ step }) => step === 'recover');

/** People have decided: the agent is ended and its task put on a fresh one, under any plan. */
export const terminating = (activeCase: ActiveCase, by: string, terminate: Step): ActiveCase =>
  withDecided(activeCase, by, activeCase.death ? [] : [terminate]);

/** People have decided: the agent performs a handoff by itself. Where it does not in time, it is ended. Its task goes to a new agent. */
export const handingOff = (activeCase: ActiveCase, by: string, handoff: Step): ActiveCase => {
  const planned = activeCase.caseContext.steps.find(({ step }) => step === 'terminate') ?? requestedTerminate;
  return withDecided(activeCase, by, [handoff, { ...planned, requires: [] } as Step]);
};

/** These steps, and then the recovery. */
const withDecided = (activeCase: ActiveCase, by: string, steps: readonly Step[]): ActiveCase =>
  begun(
    { ...activeCase, doneBefore: [], moreTime: { ...activeCase.moreTime, until: 0 }, ending: null },
    { ...activeCase.caseContext, ...asDecided(activeCase.caseContext), by, steps: [...steps, { step: 'recover' }] },
    0,
  );

/** More time: nothing moves before `until`. What has been escalated stays a question until then. */
export const givenTime = (activeCase: ActiveCase, until: number): ActiveCase => {
  const moreTime = { times: activeCase.moreTime.times + 1, until };
  if (activeCase.stepState.kind === 'escalated') {
    const later = activeCase.stepState.until === null ? null : Math.max(activeCase.stepState.until, until);
    return { ...activeCase, moreTime, stepState: { ...activeCase.stepState, until: later } };
  }
  if (activeCase.stepState.kind !== 'asked') return { ...activeCase, moreTime };
  return { ...activeCase, moreTime, stepState: { kind: 'turn' }, withdrawing: activeCase.stepState.requestId };
};
