import type { Clock } from '@vigil/stream';
import { answer } from './answer.ts';
import { closed, withdraw } from './drafts.ts';
import { evolve } from './evolve.ts';
import { droppedDecision, lapsedDecision } from './freshness.ts';
import type { Open } from './open.ts';
import { isVoid, opening, openingMoves } from './opening.ts';
import { outstandingMoves } from './outstanding.ts';
import { answerTo, type Ruling, rulingOf } from './ruling.ts';
import type { CaseDraft, CaseInput, CaseState } from './state.ts';
import { advanced, ruledMoves, stepMoves } from './stepping.ts';
import { resumed } from './steps/pause.ts';
import { terminateMoves } from './terminating.ts';

/** The answer to a command, then move by move until nothing more follows: each sees what the one before it has emitted. */
export const decide = (state: CaseState, clock: Clock, input: CaseInput | null): readonly CaseDraft[] => {
  const { now } = clock;
  const ruling = rulingOf(input, clock);
  const emitted: CaseDraft[] = [];
  let current = state;
  const emit = (drafts: readonly CaseDraft[]): void => {
    emitted.push(...drafts.map((draft) => withEnd(draft, current)));
    current = drafts.reduce((before, draft) => evolve(before, draft, clock, input), current);
  };
  if (input !== null) emit(answer(state, input));
  for (let next = moves(current, now, ruling); next.length > 0; next = moves(current, now, ruling)) emit(next);
  return emitted;
};

/** Whoever is told that a case is closed learns whether its agent goes on. */
const withEnd = (draft: CaseDraft, { life, situation }: CaseState): CaseDraft => {
  if (draft.type !== 'CASE_CLOSED') return draft;
  const isDead = situation.at === 'open' && situation.open.death !== null;
  return { ...draft, payload: { ...draft.payload, instanceEnded: isDead || life?.ended === true } };
};

const moves = (state: CaseState, now: number, ruling: Ruling | null): readonly CaseDraft[] => {
  const { situation } = state;
  switch (situation.at) {
    case 'quiet':
      return quietMoves(state, now);
    case 'asking':
      return openingMoves(state, situation, now, ruling);
    case 'open':
      return caseMoves(state, situation.open, now, ruling);
    case 'unconfirmed': {
      const late = terminateMoves(situation.open, now, true);
      return late.length > 0 ? late : nextCase(state, now);
    }
  }
};

const quietMoves = (state: CaseState, now: number): readonly CaseDraft[] => {
  const late = state.outstanding ? outstandingMoves(state.outstanding) : [];
  return late.length > 0 ? late : nextCase(state, now);
};

const nextCase = (state: CaseState, now: number): readonly CaseDraft[] =>
  state.next && !isVoid(state.next, now) ? [opening(state, state.next)] : [];

const caseMoves = (state: CaseState, open: Open, now: number, given: Ruling | null): readonly CaseDraft[] => {
  const { matter, work, withdrawing } = open;
  if (work.at === 'terminating') return terminateMoves(open, now, false);
  if (mustGoOn(open, now)) return resumed(open, (state.life?.number ?? 0) + 1);
  if (withdrawing) return [withdraw(matter, withdrawing, 'the case goes another way')];
  const over = endingOf(open, now);
  if (over && (open.paused || (over.ending === 'recovered' && handsOffUntil(open) > now))) return [];
  if (over)
    return [...withdrawn(open, over.why, given), ...droppedDecision(open), closed(matter, over.ending, over.why)];
  const lapsed = lapsedDecision(open, now, given);
  if (lapsed.length > 0) return lapsed;
  switch (work.at) {
    case 'asked': {
      const ruling = answerTo(work, given);
      return ruling ? ruledMoves(state, open, work, ruling, now) : [];
    }
    case 'escalated':
      return work.until !== null && now >= work.until ? stepMoves(state, advanced(open), now) : [];
    case 'turn':
      return stepMoves(state, open, now);
  }
};

/** A pause ends when its time is over, or the case goes another way. A back-off is waited out though the limit is over meanwhile. */
const mustGoOn = (open: Open, now: number): boolean => {
  if (open.paused === null) return false;
  const over = endingOf(open, now);
  if (over && over.ending !== 'recovered') return true;
  return now >= open.paused.until || open.matter.steps[open.index]?.step !== 'pause';
};

/** Until when an agent that was asked to hand off may still stop by itself: what it does meanwhile is no sign that it goes on. */
const handsOffUntil = ({ matter, index, attempt }: Open): number => {
  const step = matter.steps[index];
  return step?.step === 'handoff' && attempt.sent > 0 ? attempt.lastAt + step.deadlineMs : 0;
};

const endingOf = ({ ending, matter, death }: Open, now: number): Open['ending'] => {
  if (ending) return ending;
  if (death || !isVoid(matter, now)) return null;
  return { ending: 'expired', why: 'the warrant is void: nobody has renewed it' };
};

const withdrawn = ({ matter, work }: Open, why: string, ruling: Ruling | null): readonly CaseDraft[] => {
  if (work.at !== 'asked' || answerTo(work, ruling)?.admitted === false) return [];
  return [withdraw(matter, work.requestId, why)];
};
