import type { Clock } from '@vigil/stream';
import { type ActiveCase, isSuspended } from './active-case.ts';
import { answer, droppedDecision, lapsedDecision } from './commands.ts';
import { closed, withdraw } from './drafts.ts';
import { evolve } from './evolve.ts';
import { handoffBeginsUntil } from './observe/answers.ts';
import { isVoid, opening, openingMoves } from './opening.ts';
import { outstandingMoves } from './orders.ts';
import { answerTo, type Ruling, rulingOf } from './ruling.ts';
import type { CaseDraft, CaseInput, CaseState } from './state.ts';
import { advanced, ruledMoves, stepMoves } from './stepping.ts';
import { resumed } from './steps/pause.ts';
import { askedAgain } from './steps/people.ts';
import { terminateMoves } from './terminating.ts';

/** Answers a command, then moves until nothing more follows. Each move sees the outputs of the one before. */
export const decide = (state: CaseState, clock: Clock, input: CaseInput | null): readonly CaseDraft[] => {
  const { now } = clock;
  const ruling = rulingOf(input, clock);
  const emitted: CaseDraft[] = [];
  let current = state;
  const emit = (drafts: readonly CaseDraft[]): void => {
    const withEnds = drafts.map((draft) => withEnd(draft, current));
    emitted.push(...withEnds);
    current = withEnds.reduce((before, draft) => evolve(before, draft, clock, input), current);
  };
  if (input !== null) emit(answer(state, input));
  for (let next = moves(current, now, ruling); next.length > 0; next = moves(current, now, ruling)) emit(next);
  return emitted;
};

/** The end of a case names whether its agent continues. */
const withEnd = (draft: CaseDraft, { instance, situation }: CaseState): CaseDraft => {
  if (draft.type !== 'CASE_CLOSED') return draft;
  const isDead = situation.kind === 'open' && situation.activeCase.death !== null;
  return { ...draft, payload: { ...draft.payload, instanceEnded: isDead || instance?.ended === true } };
};

const moves = (state: CaseState, now: number, ruling: Ruling | null): readonly CaseDraft[] => {
  const { situation } = state;
  switch (situation.kind) {
    case 'quiet':
      return quietMoves(state, now);
    case 'asking':
      return openingMoves(state, situation, now, ruling);
    case 'open':
      return caseMoves(state, situation.activeCase, now, ruling);
    case 'unconfirmed': {
      const tooLate = terminateMoves(situation.activeCase, now, true);
      return tooLate.length > 0 ? tooLate : nextCase(state, now);
    }
  }
};

const quietMoves = (state: CaseState, now: number): readonly CaseDraft[] => {
  const tooLate = state.outstanding ? outstandingMoves(state.outstanding) : [];
  if (tooLate.length > 0) return tooLate;
  const { unconfirmed, instance } = state;
  return unconfirmed && instance?.ended
    ? [closed(unconfirmed, 'superseded', 'the agent has ended after all')]
    : nextCase(state, now);
};

const nextCase = (state: CaseState, now: number): readonly CaseDraft[] =>
  state.next && !isVoid(state.next, now) && state.next.suspendedBy === undefined ? [opening(state, state.next)] : [];

const caseMoves = (
  state: CaseState,
  activeCase: ActiveCase,
  now: number,
  given: Ruling | null,
): readonly CaseDraft[] => {
  const { caseContext, stepState, withdrawing } = activeCase;
  if (stepState.kind === 'terminating') return terminateMoves(activeCase, now, false);
  if (mustResume(activeCase, now)) return resumed(activeCase, (state.instance?.number ?? 0) + 1);
  if (withdrawing) return [withdraw(caseContext, withdrawing, 'the case goes another way')];
  const begins = handoffBeginsUntil(activeCase);
  const over = begins !== null && now < begins ? null : endingOf(activeCase, now);
  if (over && (activeCase.paused || (over.ending === 'recovered' && handoffUntil(activeCase) > now))) return [];
  if (over)
    return [
      ...withdrawn(activeCase, over.why, given),
      ...droppedDecision(activeCase),
      closed(caseContext, over.ending, over.why),
    ];
  const lapsed = lapsedDecision(activeCase, now, given);
  if (lapsed.length > 0) return lapsed;
  switch (stepState.kind) {
    case 'asked': {
      const ruling = answerTo(stepState, given);
      return ruling ? ruledMoves(state, activeCase, stepState, ruling, now) : [];
    }
    case 'escalated':
      if (activeCase.reminder === 'due') return [askedAgain(caseContext, stepState, activeCase.answers)];
      return stepState.until !== null && now >= stepState.until && !isSuspended(activeCase)
        ? stepMoves(state, advanced(activeCase), now)
        : [];
    case 'turn':
      return stepMoves(state, activeCase, now);
  }
};

/** A pause ends when its time is over or the case takes another path. A back-off lasts its full time, even if the limit ends earlier. */
const mustResume = (activeCase: ActiveCase, now: number): boolean => {
  if (activeCase.paused === null) return false;
  const over = endingOf(activeCase, now);
  if (over && over.ending !== 'recovered') return true;
  return now >= activeCase.paused.until || activeCase.caseContext.steps[activeCase.index]?.step !== 'pause';
};

/** Until when an agent may still stop by itself after a handoff request. Its activity until then does not show that it continues. */
const handoffUntil = ({ caseContext, index, attempt }: ActiveCase): number => {
  const step = caseContext.steps[index];
  return step?.step === 'handoff' && attempt.sent > 0 ? attempt.lastAt + step.deadlineMs : 0;
};

const endingOf = ({ ending, caseContext, death }: ActiveCase, now: number): ActiveCase['ending'] => {
  if (ending) return ending;
  if (death || !isVoid(caseContext, now)) return null;
  return { ending: 'expired', why: 'the warrant is void: it was not renewed' };
};

const withdrawn = (
  { caseContext, stepState }: ActiveCase,
  why: string,
  ruling: Ruling | null,
): readonly CaseDraft[] => {
  if (stepState.kind !== 'asked' || answerTo(stepState, ruling)?.admitted === false) return [];
  return [withdraw(caseContext, stepState.requestId, why)];
};
