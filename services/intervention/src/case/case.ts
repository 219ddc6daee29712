import { type Clock, type Decider, NEVER } from '@vigil/stream';
import { type ActiveCase, isSuspended, standsUntil } from './active-case.ts';
import { lapsesAt } from './commands.ts';
import { decide } from './decide.ts';
import { evolve } from './evolve.ts';
import { handoffBeginsUntil } from './observe/answers.ts';
import { observe } from './observe/observe.ts';
import { voidFrom } from './opening.ts';
import { type CaseDraft, type CaseInput, type CaseState, initial } from './state.ts';
import { rulesOf } from './steps/steps.ts';

const dueAt = (state: CaseState, { now }: Clock): number => {
  const { situation } = state;
  switch (situation.kind) {
    case 'quiet':
      return forgetAt(state);
    case 'unconfirmed':
      return NEVER;
    case 'asking':
      return voidFrom(situation.caseContext);
    case 'open':
      return caseDue(situation.activeCase, now);
  }
};

const caseDue = (activeCase: ActiveCase, now: number): number => {
  const { stepState, death, ending, caseContext } = activeCase;
  const isLeased = stepState.kind !== 'terminating' && !death && !ending;
  return Math.min(isLeased ? voidFrom(caseContext) : NEVER, stepDue(activeCase, now));
};

const stepDue = (activeCase: ActiveCase, now: number): number => {
  const { stepState } = activeCase;
  switch (stepState.kind) {
    case 'asked':
      return Math.min(lapsesAt(activeCase) ?? NEVER, handoffBeginsUntil(activeCase) ?? NEVER);
    case 'terminating':
      return stepState.until;
    case 'escalated':
      return isSuspended(activeCase) ? NEVER : (stepState.until ?? NEVER);
    case 'turn':
      // More time suspends the steps only. A paused agent is resumed all the same.
      return Math.min(Math.max(turnDue(activeCase, now), standsUntil(activeCase)), activeCase.paused?.until ?? NEVER);
  }
};

const turnDue = (activeCase: ActiveCase, now: number): number => {
  const step = activeCase.caseContext.steps[activeCase.index];
  const decision = step && rulesOf(step).decideStep(step, activeCase, now);
  return decision?.kind === 'wait' ? decision.until : now;
};

/** One hour longer than the evaluator remembers an ended agent, so that its findings lapse first. */
const REMEMBERED_MS = 25 * 60 * 60_000;

/** Whether the state can be deleted: the instance has ended, and no case is open, requested or waiting. */
const forgetAt = ({ situation, next, instance, endedAt }: CaseState): number =>
  situation.kind === 'quiet' && next === null && instance?.ended && endedAt != null ? endedAt + REMEMBERED_MS : NEVER;

/** `now`: when the end of the instance was observed. */
const dated = (state: CaseState, now: number): CaseState => {
  const endedAt = state.instance?.ended ? (state.endedAt ?? now) : null;
  return endedAt === (state.endedAt ?? null) ? state : { ...state, endedAt };
};

/**
 * One agent's case: a warrant, or a person's request, worked step by step. Read state.ts first, then observe.ts, decide.ts, evolve.ts, and
 * `dueAt` here; each kind of step is a file of steps/.
 */
export const decider: Decider<CaseState, CaseInput, CaseDraft> = {
  initial,
  observe: (state, input, clock) => dated(observe(state, input, clock), clock.now),
  decide,
  evolve,
  dueAt,
  forgets: (state, { now }) => now >= forgetAt(state),
};
