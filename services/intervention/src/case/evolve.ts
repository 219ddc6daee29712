import type { Clock } from '@vigil/stream';
import { type ActiveCase, type Ending, opened, type Question } from './active-case.ts';
import { type CaseContext, deathByEnd } from './case-context.ts';
import { beginsAgain, decided, successorOf } from './commands.ts';
import { contextIn } from './observe/instance.ts';
import { outstandingWith } from './orders.ts';
import { answerTo, asksAgainAt, openingAnswer, type Ruling, rulingOf } from './ruling.ts';
import {
  type CaseDraft,
  type CaseInput,
  type CaseState,
  type DraftOf,
  type Episode,
  episodeOf,
  inCase,
  neverOpened,
  resumePointOf,
  type Situation,
} from './state.ts';
import { advanced, atStep, done } from './stepping.ts';
import { attempted, nudged, ordered, paused } from './steps/acted.ts';
import { rulesOf } from './steps/steps.ts';

export const evolve = (state: CaseState, draft: CaseDraft, clock: Clock, input: CaseInput | null): CaseState => {
  const ruling = rulingOf(input, clock);
  const successor = successorOf(state, input);
  switch (draft.type) {
    case 'ADMIT_STEP':
      return asked({ ...state, requests: state.requests + 1 }, draft, successor);
    case 'WITHDRAW_STEP':
      return withdrawn(state, ruling, successor);
    case 'CASE_OPENED':
      return caseOpened(state, ruling);
    case 'CASE_WITHHELD':
      return inCase(state, (activeCase) => withheld(activeCase, draft.payload, ruling));
    case 'CASE_RESUMED':
      return inCase(state, (activeCase) =>
        activeCase.stepState.kind === 'asked'
          ? { ...activeCase, stepState: { ...activeCase.stepState, withheld: null } }
          : activeCase,
      );
    case 'CASE_CLOSED':
      return caseClosed(state, draft.payload, successor);
    case 'NUDGE_AGENT':
    case 'TERMINATE_AGENT':
    case 'PROBE_AGENT':
    case 'HANDOFF_AGENT':
    case 'PAUSE_AGENT':
    case 'RESUME_AGENT':
    case 'INTERRUPT_AGENT':
    case 'RESUME_SESSION':
      return ordered(state, draft, ruling);
    case 'NUDGE_SENT':
      return inCase(state, (activeCase) => nudged(activeCase, draft.payload.orderId, ruling));
    case 'HANDOFF_REQUESTED':
      return inCase(state, (activeCase) =>
        beginsAgain({ ...attempted(activeCase, ruling), handoff: draft.payload.orderId }, draft.payload.deadlineAt),
      );
    case 'AGENT_PAUSED':
      return paused(state, draft.payload.until, ruling);
    case 'AGENT_RESUMED':
      return inCase(state, (activeCase) => ({ ...activeCase, paused: null }));
    case 'ESCALATION_TRIGGERED':
      return inCase(state, (activeCase) => escalated(activeCase, draft));
    case 'ESCALATION_DECIDED':
      return decided(state, draft, clock.now);
    case 'DECISION_REFUSED':
      return refused(state, draft.payload, ruling, successor);
    case 'STEP_SKIPPED':
      return inCase(state, (activeCase) => skipped(activeCase, draft));
    case 'ALERT_REQUESTED':
      return inCase(state, (activeCase) =>
        activeCase.stepState.kind === 'terminating' ? activeCase : done(atStep(activeCase, 'alert')),
      );
    case 'TASK_BLOCKED':
      // A person may block the task beside an open case.
      return inCase(state, (activeCase) =>
        activeCase.caseContext.caseId === draft.payload.caseId ? done(atStep(activeCase, 'block')) : activeCase,
      );
    case 'RECOVER_TASK':
      return acknowledgedDeath(
        inCase(state, (activeCase) => done(atStep(activeCase, 'recover'))),
        draft.payload.instanceId,
      );
    case 'AGENT_TERMINATED':
      return acknowledgedDeath(terminated(state), draft.payload.instanceId);
    case 'RESET_BREAKER':
      return { ...state, instance: state.instance && { ...state.instance, number: draft.payload.number } };
    case 'TERMINATION_UNCONFIRMED':
      return { ...state, unconfirmed: contextIn(state) };
    case 'DECISION_LAPSED':
    case 'SPAWN_AGENT':
    case 'ADMIT_SPAWN':
      return state;
  }
};

/** Requests an admission, for a case that is not open yet or for a step. */
const asked = (state: CaseState, { payload }: DraftOf<'ADMIT_STEP'>, successor: CaseContext | null): CaseState => {
  const stepState = { kind: 'asked', requestId: payload.requestId, withheld: null } as const;
  if (state.situation.kind === 'open')
    return inCase(state, (activeCase) => ({ ...atStep(activeCase, payload.step), stepState }));
  const caseContext = nextContext(state, payload.caseId, successor);
  if (caseContext === null) return state;
  return {
    ...withOutstanding(state),
    situation: { kind: 'asking', caseContext: { ...caseContext, caseId: payload.caseId }, stepState, dropped: null },
    asked: caseContext.warrantId === null ? state.asked : counted(state, caseContext.warrantId),
    next: caseContext === state.next ? null : state.next,
  };
};

const nextContext = (
  { situation, next }: CaseState,
  caseId: string,
  successor: CaseContext | null,
): CaseContext | null => {
  if (situation.kind === 'asking') return situation.caseContext;
  return successor?.caseId === caseId ? successor : next;
};

/** Another case replaces one whose terminate is not confirmed. The end may still be reported. */
const withOutstanding = (state: CaseState): CaseState =>
  state.situation.kind === 'unconfirmed'
    ? { ...state, outstanding: outstandingWith(state, state.situation.activeCase) }
    : state;

/** The governor keeps the request, so the step is still requested. */
const withheld = (
  activeCase: ActiveCase,
  { why, detail }: DraftOf<'CASE_WITHHELD'>['payload'],
  ruling: Ruling | null,
): ActiveCase =>
  activeCase.stepState.kind === 'asked' && answerTo(activeCase.stepState, ruling)
    ? { ...activeCase, stepState: { ...activeCase.stepState, withheld: { why, detail } } }
    : activeCase;

const counted = ({ asked }: CaseState, warrantId: string): CaseState['asked'] => ({
  warrantId,
  times: asked?.warrantId === warrantId ? asked.times + 1 : 1,
});

const withdrawn = (state: CaseState, ruling: Ruling | null, successor: CaseContext | null): CaseState => {
  const { situation } = state;
  if (situation.kind === 'asking') {
    if (situation.stepState.kind !== 'asked') return state;
    return openingAnswer(situation.caseContext, situation.stepState, ruling)
      ? neverOpened(state, situation.caseContext)
      : { ...state, situation: succeeded(successor) };
  }
  return inCase(state, (activeCase) => ({
    ...activeCase,
    askAgainAt: askAgainAt(activeCase, ruling),
    withdrawing: null,
    stepState: activeCase.stepState.kind === 'asked' ? { kind: 'turn' } : activeCase.stepState,
  }));
};

/** The next request is the admission of the replacing case. */
const succeeded = (successor: CaseContext | null): Situation =>
  successor === null
    ? { kind: 'quiet' }
    : { kind: 'asking', caseContext: successor, stepState: { kind: 'turn' }, dropped: null };

const askAgainAt = ({ stepState }: ActiveCase, ruling: Ruling | null): number => {
  const answer = answerTo(stepState, ruling);
  return answer ? asksAgainAt(answer) : 0;
};

/** The admission that opened the case also admits its first step, if that step was requested. */
const caseOpened = (state: CaseState, ruling: Ruling | null): CaseState => {
  const { situation } = state;
  if (situation.kind !== 'asking') return state;
  const { caseContext, stepState } = situation;
  const answer = openingAnswer(caseContext, stepState, ruling);
  if (!answer?.admitted) return state;
  const { dryRun, since } = answer;
  const resumedAt = state.instance?.resumedAt ?? null;
  const resumePoint = resumePointOf(state, caseContext);
  const { answers } = episodeOf(state, caseContext.episodeId ?? '');
  const activeCase = opened(caseContext, resumePoint, { dryRun, openedAt: since, resumedAt, answers });
  const first = caseContext.steps[activeCase.index];
  return {
    ...state,
    situation: {
      kind: 'open',
      activeCase: first && rulesOf(first).ruling === 'soft' ? { ...activeCase, stepState } : activeCase,
    },
  };
};

/** Keeps an unconfirmed terminate: a late receipt continues its plan. */
const caseClosed = (
  state: CaseState,
  { caseId, taskId, ending, instanceEnded }: DraftOf<'CASE_CLOSED'>['payload'],
  requested: CaseContext | null,
): CaseState => {
  const { situation } = state;
  const activeCase = situation.kind === 'open' || situation.kind === 'unconfirmed' ? situation.activeCase : null;
  const unconfirmed =
    situation.kind === 'open' && situation.activeCase.stepState.kind === 'terminating' && ending === 'failed';
  const successor = ending === 'superseded' ? requested : null;
  const rest: Situation = unconfirmed
    ? { kind: 'unconfirmed', activeCase: situation.activeCase }
    : succeeded(successor);
  const leaves = situation.kind === 'open' && !unconfirmed;
  const outstanding = leaves ? outstandingWith(state, situation.activeCase) : (state.outstanding ?? null);
  const known = {
    ...state,
    situation: rest,
    last: { caseId, ending: ending as Ending },
    outstanding,
    unconfirmed: instanceEnded && state.unconfirmed?.taskId === taskId ? null : state.unconfirmed,
  };
  return activeCase === null
    ? known
    : { ...known, episode: episodeAfter(state, activeCase, ending as Ending, successor !== null) };
};

/** After these endings the finding still holds. Its renewal may open the next case. */
const LEAVES_THE_FINDING: ReadonlySet<Ending> = new Set(['withheld', 'expired', 'executed']);

/** A person's request belongs to no episode. A request that replaces a case settles nothing. */
const episodeAfter = (
  state: CaseState,
  activeCase: ActiveCase,
  ending: Ending,
  isReplaced: boolean,
): Episode | null => {
  const { caseContext, plans, dryRun, answers } = activeCase;
  const id = caseContext.episodeId;
  if (id === null) return state.episode;
  const { withheld: _, ...before } = episodeOf(state, id);
  const known = { ...before, answers };
  const settled = known.settled || !(LEAVES_THE_FINDING.has(ending) || isReplaced);
  if (ending === 'withheld' || isReplaced) return { ...known, settled, ...resumePointAfter(activeCase) };
  if (ending !== 'executed') return { ...known, settled };
  const kind = dryRun ? 'rehearsed' : 'worked';
  return { ...known, settled, [kind]: [...known[kind], ...plans].slice(-8) };
};

/**
 * A case that was rehearsed or decided by people leaves nothing to continue from. Nor does one that began with its present step, or was answered,
 * unless people are still asked.
 */
const resumePointAfter = ({
  caseContext,
  answered,
  dryRun,
  stepState,
  ...activeCase
}: ActiveCase): Pick<Episode, 'withheld'> => {
  if (dryRun || caseContext.by !== null) return {};
  const { index, attempt, done, nudges, doneBefore = [], escalated, moreTime } = activeCase;
  const { planName } = caseContext;
  const step = caseContext.steps[index]?.step ?? '';
  const resumePoint = { planName, step, index, attempt, done, nudges, doneBefore, escalated, moreTime };
  if (stepState.kind === 'escalated') return { withheld: { ...resumePoint, question: questionOf(stepState) } };
  const began = index === 0 && attempt.sent === 0 && moreTime.times === 0;
  return step === '' || began || answered ? {} : { withheld: resumePoint };
};

const questionOf = ({ kind: _, ...question }: Question & { readonly kind: 'escalated' }): Question => question;

const escalated = (activeCase: ActiveCase, { payload }: DraftOf<'ESCALATION_TRIGGERED'>): ActiveCase => ({
  // A reminder is the same question, of the same step.
  ...(activeCase.reminder === 'due' ? activeCase : atStep(activeCase, 'escalate')),
  escalated: true,
  reminder: activeCase.reminder === 'due' ? 'sent' : activeCase.reminder,
  stepState: {
    kind: 'escalated',
    until: payload.onTimeout === 'terminate' ? payload.deadlineAt : null,
    ...(payload.onTimeout === 'hold' && payload.deadlineAt !== null && { deadlineAt: payload.deadlineAt }),
    options: payload.options,
    ...(payload.reason !== activeCase.caseContext.reason && { reason: payload.reason }),
  },
});

const skipped = (activeCase: ActiveCase, { payload }: DraftOf<'STEP_SKIPPED'>): ActiveCase => {
  const there = advanced(atStep(activeCase, payload.step));
  return payload.why === 'dry_run' ? { ...there, dryRun: true } : there;
};

/** A command, which leaves no state; or a person's request that is not admitted, or that another request replaces. */
const refused = (
  state: CaseState,
  { caseId }: DraftOf<'DECISION_REFUSED'>['payload'],
  ruling: Ruling | null,
  successor: CaseContext | null,
): CaseState => {
  const { situation } = state;
  if (situation.kind !== 'asking' || situation.caseContext.caseId !== caseId) return state;
  if (successor !== null) return { ...neverOpened(state, situation.caseContext), situation: succeeded(successor) };
  return openingAnswer(situation.caseContext, situation.stepState, ruling)
    ? neverOpened(state, situation.caseContext)
    : state;
};

const terminated = (state: CaseState): CaseState => {
  const { situation } = state;
  if (situation.kind !== 'open' && situation.kind !== 'unconfirmed') return state;
  const { activeCase } = situation;
  const seen = activeCase.stepState.kind === 'terminating' ? activeCase.stepState.receipt : null;
  const death = seen?.outcome === 'done' && seen.confirmed ? seen.death : deathByEnd(activeCase.caseContext);
  return { ...state, situation: { kind: 'open', activeCase: done({ ...activeCase, death, ending: null }) } };
};

/** Acknowledges the death: further findings about it open no case. A lost agent may still end by an order. */
const acknowledgedDeath = (state: CaseState, instanceId: string | null): CaseState => ({
  ...state,
  acknowledgedDeath: instanceId,
  outstanding: state.instance?.isLost && state.outstanding?.death === null ? state.outstanding : null,
  next: state.next?.instanceId === instanceId ? null : state.next,
});
