import type { HealthState } from '@vigil/events';
import type { Step } from '@vigil/policy';
import { type ActiveCase, deadlineOf, laterQuestion, notBegun, stepKey } from '../active-case.ts';
import type { CaseContext } from '../case-context.ts';
import { requestedTerminate } from './case-context.ts';

const rank: Readonly<Record<HealthState, number>> = {
  UNKNOWN: 0,
  HEALTHY: 1,
  DEGRADED: 2,
  STUCK: 3,
  FAILING: 4,
  TERMINATED: 5,
};

/** Updates the finding. The plan stays, so that steps in flight keep their rules; a worse state brings its own plan. */
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

/**
 * The plan is suspended while the agent waits. After that, the waits of the present step have as much time left as before.
 * People keep the deadline that they were given, because their answers name it. If it has passed, they are asked again.
 */
export const withWait = (activeCase: ActiveCase, { suspendedBy }: CaseContext, now: number): ActiveCase => {
  const { suspendedAt, ...moving } = activeCase;
  if (suspendedBy !== undefined) return { ...activeCase, suspendedAt: suspendedAt ?? now };
  if (suspendedAt === undefined) return activeCase;
  const waited = now - suspendedAt;
  const { stepState, attempt } = moving;
  const later = attempt.lastAt > 0 ? { ...attempt, lastAt: attempt.lastAt + waited } : attempt;
  if (stepState.kind !== 'escalated' || stepState.until === null) return { ...moving, attempt: later };
  const until = stepState.until + waited;
  const deadlineAt = deadlineOf(stepState);
  const isPast = deadlineAt !== null && deadlineAt <= now;
  const reminder = isPast ? 'due' : moving.reminder;
  return { ...moving, attempt: later, reminder, stepState: { ...stepState, until, deadlineAt } };
};

const planOf = ({ planName, steps, recovery, policy, state }: CaseContext) => ({
  planName,
  steps,
  recovery,
  policy,
  state,
});

/** A person's decision needs no lease, and no activity of the agent recalls its orders. */
const asDecided = (caseContext: CaseContext) => ({
  ...planOf(caseContext),
  voidAt: null,
  awaits: null,
  foldedSequence: null,
});

/** Resumes at the first step that is not done. A step in progress continues; steps that the agent already had are skipped later. */
const standingAt = (before: ActiveCase, caseContext: CaseContext): ActiveCase => {
  const activeCase = { ...before, doneBefore: before.done };
  const undone = caseContext.steps.findIndex((step) => !activeCase.done.includes(stepKey(step)));
  const index = undone < 0 ? caseContext.steps.length : undone;
  const current = activeCase.caseContext.steps[activeCase.index];
  const next = caseContext.steps[index];
  if (current && next && stepKey(current) === stepKey(next)) return { ...activeCase, caseContext, index };
  return begun(activeCase, caseContext, index);
};

/** Starts a step. Withdraws the request of the previous step; its effects count as done. */
const begun = (activeCase: ActiveCase, caseContext: CaseContext, index: number): ActiveCase => ({
  ...activeCase,
  caseContext,
  index,
  stepState: { kind: 'turn' },
  attempt: notBegun,
  withdrawing: activeCase.stepState.kind === 'asked' ? activeCase.stepState.requestId : activeCase.withdrawing,
});

/** Restarts the plan from its first step. */
export const restarted = (activeCase: ActiveCase): ActiveCase => ({
  ...begun(activeCase, activeCase.caseContext, 0),
  done: [],
  doneBefore: [],
  nudges: [],
  escalated: false,
  answered: false,
});

/** Whether people requested that the task moves to another agent, and it has not moved yet. */
export const isRecoveryDecided = ({ caseContext, index }: ActiveCase): boolean =>
  caseContext.by !== null && caseContext.steps.slice(index).some(({ step }) => step === 'recover');

/** A person's decision, under any plan: terminate the agent and put its task on a fresh one. */
export const terminating = (activeCase: ActiveCase, by: string, terminate: Step): ActiveCase =>
  withDecided(activeCase, by, activeCase.death ? [] : [terminate]);

/** A person's decision: the agent performs a handoff. If it is late, it is terminated. Its task goes to a new agent. */
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

/** More time: nothing moves before `until`. An escalation stays a question until then. */
export const givenTime = (activeCase: ActiveCase, until: number): ActiveCase => {
  const moreTime = { times: activeCase.moreTime.times + 1, until };
  if (activeCase.stepState.kind === 'escalated') {
    return { ...activeCase, moreTime, stepState: { ...laterQuestion(activeCase.stepState, until), isAnswered: true } };
  }
  if (activeCase.stepState.kind !== 'asked') return { ...activeCase, moreTime };
  return { ...activeCase, moreTime, stepState: { kind: 'turn' }, withdrawing: activeCase.stepState.requestId };
};
