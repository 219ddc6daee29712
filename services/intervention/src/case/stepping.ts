import type { PlannedStep } from '@vigil/policy';
import { type ActiveCase, isDoneBefore, isSuspended, notBegun, standsUntil, stepKey, stepName } from './active-case.ts';
import { ask, caseEvent, closed, withdraw } from './drafts.ts';
import { requestId } from './opening.ts';
import { isTooLate, type Ruling, TOO_LATE } from './ruling.ts';
import { type CaseDraft, type CaseState, unknownInstance } from './state.ts';
import { toPeople } from './steps/people.ts';
import type { Moment, StepDecision } from './steps/step.ts';
import { rulesOf } from './steps/steps.ts';

type Asked = Extract<ActiveCase['stepState'], { readonly kind: 'asked' }>;
type Refusal = Extract<Ruling, { readonly admitted: false }>;

/** The next step, begun afresh. */
export const advanced = (activeCase: ActiveCase): ActiveCase => ({
  ...activeCase,
  index: activeCase.index + 1,
  stepState: { kind: 'turn' },
  attempt: notBegun,
});

/** What the current step emits or asks for. */
export const stepMoves = (state: CaseState, activeCase: ActiveCase, now: number): readonly CaseDraft[] => {
  if (now < standsUntil(activeCase)) return [];
  const step = activeCase.caseContext.steps[activeCase.index];
  if (step === undefined) return [workedThrough(activeCase)];
  if (isDoneBefore(activeCase, step)) return stepMoves(state, advanced(activeCase), now);
  const { decideStep, ruling, act } = rulesOf(step);
  const decision = decideStep(step, activeCase, now);
  switch (decision.kind) {
    case 'wait':
      return [];
    case 'next':
      return stepMoves(state, advanced(activeCase), now);
    case 'skip':
      return skipped(activeCase, decision);
    case 'act':
      if (ruling === null && activeCase.dryRun) return [rehearsed(activeCase, step)];
      return ruling === null
        ? act(step, activeCase, momentAt(state, Math.max(now, activeCase.openedAt)))
        : [
            ask(activeCase.caseContext, {
              requestId: requestId(state, activeCase.caseContext),
              step: step.step,
              class: ruling,
            }),
          ];
  }
};

const STILL_RUNS = 'it was asked to hand off, and still runs at the deadline';

/** A request by hand whose text or handoff has not reached the agent is not executed. */
const workedThrough = ({ caseContext, death, delivery }: ActiveCase): CaseDraft => {
  const undelivered = death === null ? (delivery?.undelivered ?? null) : null;
  const stays = death === null && caseContext.steps.at(-1)?.step === 'handoff';
  if (undelivered === null) return closed(caseContext, 'executed', stays ? STILL_RUNS : 'the plan is worked through');
  return closed(caseContext, undelivered, `it has not reached the agent: ${delivery?.why ?? undelivered}`);
};

/** When a step acts, and what it acts on. */
const momentAt = (state: CaseState, at: number): Moment => {
  const instance = state.instance ?? unknownInstance;
  return { at, number: instance.number + 1, instance };
};

const skipped = (
  activeCase: ActiveCase,
  { why, detail, leads }: Extract<StepDecision, { kind: 'skip' }>,
): readonly CaseDraft[] => {
  const step = stepName(activeCase);
  const asks = leads === 'people';
  const words = asks && activeCase.dryRun ? `${detail}; people would be asked` : detail;
  const skip = caseEvent(activeCase.caseContext, 'STEP_SKIPPED', { step, why, detail: words });
  return asks && !activeCase.dryRun ? [skip, toPeople(activeCase, detail)] : [skip];
};

const rehearsed = ({ caseContext }: ActiveCase, { step }: PlannedStep): CaseDraft =>
  caseEvent(caseContext, 'STEP_SKIPPED', { step, why: 'dry_run', detail: `${step} would be done now` });

/**
 * The case stays open. The governor keeps its request, or the case makes it again where the queue is full. A request by
 * hand is not kept: the person may make it again.
 */
const withheldMoves = (activeCase: ActiveCase, { requestId, why, detail }: Refusal): readonly CaseDraft[] => {
  const { caseContext } = activeCase;
  if (why === 'queue_full' && caseContext.warrantId !== null) return [withdraw(caseContext, requestId, detail)];
  if (caseContext.warrantId !== null)
    return [caseEvent(caseContext, 'CASE_WITHHELD', { step: stepName(activeCase), why, detail })];
  const reason = `${why}: ${detail}`;
  return [withdraw(caseContext, requestId, reason), closed(caseContext, 'withheld', reason)];
};

const UNDONE = 'the dry run is over, and the first steps of the plan have only been reported';

/** Admitted, a step acts at once; it is looked at again, as things may have changed while it was asked. */
export const ruledMoves = (
  state: CaseState,
  activeCase: ActiveCase,
  stepState: Asked,
  ruling: Ruling,
  now: number,
): readonly CaseDraft[] => {
  const { caseContext, index } = activeCase;
  if (!ruling.admitted) return withheldMoves(activeCase, ruling);
  if (stepState.withheld) return [caseEvent(caseContext, 'CASE_RESUMED', { step: stepName(activeCase) })];
  if (isTooLate(ruling, now)) return [withdraw(caseContext, ruling.requestId, TOO_LATE)];
  if (isSuspended(activeCase)) return [withdraw(caseContext, ruling.requestId, 'the agent waits')];
  const step = caseContext.steps[index];
  if (step === undefined) return [withdraw(caseContext, ruling.requestId, 'no such step')];
  const { decideStep, act } = rulesOf(step);
  const decision = decideStep(step, activeCase, now);
  if (decision.kind === 'skip')
    return [withdraw(caseContext, ruling.requestId, decision.detail), ...skipped(activeCase, decision)];
  if (decision.kind !== 'act') return [withdraw(caseContext, ruling.requestId, 'no longer wanted')];
  if (ruling.dryRun) return [rehearsed(activeCase, step)];
  // The steps before it were only rehearsed: this one does not follow from them.
  if (activeCase.dryRun && index > 0)
    return [withdraw(caseContext, ruling.requestId, UNDONE), closed(caseContext, 'withheld', UNDONE)];
  return act(step, activeCase, momentAt(state, ruling.since));
};

/**
 * The step that a draft of this name is about: the first of that name from the current one on. The current one counts while it can still act.
 * These do not count: a nudge that can send no more, an escalation that is over, and a step that was done under another plan.
 */
export const atStep = (activeCase: ActiveCase, name: string): ActiveCase => {
  const from = spent(activeCase) ? activeCase.index + 1 : activeCase.index;
  const index = activeCase.caseContext.steps.findIndex(
    (one, i) => i >= from && one.step === name && !isDoneBefore(activeCase, one),
  );
  if (index < 0 || index === activeCase.index) return activeCase;
  return { ...activeCase, index, stepState: { kind: 'turn' }, attempt: notBegun, done: withCurrent(activeCase) };
};

const actsOnce: ReadonlySet<PlannedStep['step']> = new Set(['handoff', 'interrupt', 'resume']);

const spent = ({ caseContext, index, stepState, attempt, answered, paused }: ActiveCase): boolean => {
  const step = caseContext.steps[index];
  // The last step of a plan may pause again.
  if (step?.step === 'pause') return attempt.sent > 0 && paused === null && index + 1 < caseContext.steps.length;
  if (stepState.kind === 'escalated') return true;
  if (step?.step === 'nudge') return answered || attempt.sent >= step.attempts;
  if (step?.step === 'interrogate') return attempt.sent >= step.waitsMs.length;
  return step !== undefined && actsOnce.has(step.step) && attempt.sent > 0;
};

const withCurrent = ({ caseContext, index, stepState, attempt, done }: ActiveCase): ActiveCase['done'] => {
  const step = caseContext.steps[index];
  return step && (stepState.kind === 'escalated' || attempt.sent > 0) ? [...done, stepKey(step)] : done;
};

/** The current step is done; the next begins. */
export const done = (activeCase: ActiveCase): ActiveCase => {
  const step = activeCase.caseContext.steps[activeCase.index];
  return advanced({ ...activeCase, done: step ? [...activeCase.done, stepKey(step)] : activeCase.done });
};
