import { type ActiveCase, type Answers, deadlineOf, FRESH_MS, laterQuestion, notBegun } from '../active-case.ts';
import type { InputOf } from '../state.ts';
import { unreachable } from '../steps/step.ts';
import { requestedHandoff } from './case-context.ts';
import { restarted } from './replan.ts';

/** Characters of an answer that a case keeps. */
const ANSWER_CHARACTERS = 500;

/** An agent's words are data for people: one line without control characters. */
const wordsOf = (text: string): string =>
  text
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, ANSWER_CHARACTERS);

/** Keeps the words of an answer. People who were asked before are reminded of new words, once a case. */
export const withWords = (
  activeCase: ActiveCase,
  { how, text }: Pick<InputOf<'AGENT_ANSWERED'>['payload'], 'how' | 'text'>,
): ActiveCase => {
  if ((how !== 'handoff' && how !== 'blockers') || text === null) return activeCase;
  const { answers, reminder, stepState } = activeCase;
  const kept: Answers = { ...answers, [how]: wordsOf(text) };
  const isLate = stepState.kind === 'escalated' && reminder === 'none' && kept[how] !== answers[how];
  return { ...activeCase, answers: kept, reminder: isLate ? 'due' : reminder };
};

const isText = ({ caseContext, index }: ActiveCase): boolean => {
  const step = caseContext.steps[index]?.step;
  return step === 'nudge' || step === 'interrogate';
};

/**
 * Whether a request for a handoff begins one, once a case. It has to follow a text of this case, and an order has to reach the agent. The plan has to
 * give its task to another agent.
 */
export const mayHandOff = ({
  nudges,
  handoff,
  handoffAsked,
  caseContext,
  index,
  stepState,
  death,
}: ActiveCase): boolean =>
  nudges.length > 0 &&
  (handoff ?? null) === null &&
  handoffAsked === null &&
  stepState.kind !== 'terminating' &&
  death === null &&
  caseContext.taskId !== null &&
  unreachable(caseContext) === null &&
  caseContext.steps.slice(index).some(({ step }) => step === 'recover');

/** The handoff takes the place of the text, or of the step before the present one. A terminate that led to a question is decided again after it. */
const placeOf = (activeCase: ActiveCase): number => {
  if (isText(activeCase)) return activeCase.index;
  const before = activeCase.index - 1;
  return activeCase.caseContext.steps[before]?.step === 'terminate' ? before - 1 : before;
};

/** The rest of the plan follows where the agent does not stop. */
export const handingItselfOff = (activeCase: ActiveCase, now: number): ActiveCase => {
  const { caseContext, stepState, withdrawing } = activeCase;
  const at = Math.max(0, placeOf(activeCase));
  const handoff = caseContext.steps.find(({ step }) => step === 'handoff') ?? requestedHandoff;
  return {
    ...activeCase,
    caseContext: { ...caseContext, steps: caseContext.steps.with(at, handoff) },
    index: at,
    stepState: { kind: 'turn' },
    attempt: notBegun,
    reminder: 'none',
    handoffAsked: { until: now + FRESH_MS },
    withdrawing: stepState.kind === 'asked' ? stepState.requestId : withdrawing,
  };
};

/**
 * The agent has as long again as the step waits for an answer: once an episode, so that no agent stalls for ever by answering. A plan whose step is
 * withheld begins again instead.
 */
export const waitingAgain = (activeCase: ActiveCase, now: number): ActiveCase => {
  const { answers, caseContext, index, stepState, attempt } = activeCase;
  if (answers.restartedAt !== null) return activeCase;
  const dated = { ...activeCase, answers: { ...answers, restartedAt: now } };
  if (stepState.kind === 'asked' && stepState.withheld !== null) return restarted(dated);
  const step = caseContext.steps[index];
  if (step?.step === 'nudge') {
    const isWaiting = attempt.sent > 0 && (attempt.sent < step.attempts || now < attempt.lastAt + step.intervalMs);
    return isWaiting ? dated : activeCase;
  }
  if (step?.step !== 'escalate' || step.timeoutMs === null) return activeCase;
  if (stepState.kind !== 'escalated' || deadlineOf(stepState) === null) return activeCase;
  return { ...dated, reminder: 'due', stepState: laterQuestion(stepState, now + step.timeoutMs) };
};

/**
 * Until when a handoff that the agent has asked for, and that has not begun, outlasts the finding: the request is itself a sign of life. Null: none does.
 */
export const handoffBeginsUntil = ({
  handoffAsked,
  ending,
  attempt,
  caseContext,
  index,
}: ActiveCase): number | null => {
  const isToBegin = caseContext.steps[index]?.step === 'handoff' && attempt.sent === 0;
  return handoffAsked !== null && isToBegin && ending?.ending === 'recovered' ? handoffAsked.until : null;
};

/** It has stopped after the handoff that it asked for: only the recovery is left. */
export const handedOff = (activeCase: ActiveCase): ActiveCase => {
  const { caseContext, handoffAsked, index } = activeCase;
  const recovers = caseContext.steps.findIndex(({ step }, at) => at >= index && step === 'recover');
  return handoffAsked === null || recovers < 0 ? activeCase : { ...activeCase, index: recovers, attempt: notBegun };
};
