import type { Clock } from '@vigil/stream';
import { answer } from './answer.ts';
import { closed, withdraw } from './drafts.ts';
import { evolve } from './evolve.ts';
import { droppedDecision, lapsedDecision } from './freshness.ts';
import type { Open } from './open.ts';
import { isVoid, opening, openingMoves } from './opening.ts';
import { outstandingMoves } from './outstanding.ts';
import type { CaseDraft, CaseState } from './state.ts';
import { advanced, ruledMoves, stepMoves } from './stepping.ts';
import { resumed } from './steps/pause.ts';
import { terminateMoves } from './terminating.ts';

/** Move by move until nothing more follows: each sees what the one before it has said. */
export const decide = (state: CaseState, { now }: Clock): readonly CaseDraft[] => {
  const said: CaseDraft[] = [];
  let current = state;
  for (let next = moves(current, now); next.length > 0; next = moves(current, now)) {
    said.push(...next.map((draft) => withEnd(draft, current)));
    current = next.reduce(evolve, current);
  }
  return said;
};

/** Whoever is told that a case is closed learns whether its agent goes on. */
const withEnd = (draft: CaseDraft, { life, situation }: CaseState): CaseDraft => {
  if (draft.type !== 'CASE_CLOSED') return draft;
  const isDead = situation.at === 'open' && situation.open.death !== null;
  return { ...draft, payload: { ...draft.payload, instanceEnded: isDead || life?.ended === true } };
};

const moves = (state: CaseState, now: number): readonly CaseDraft[] => {
  if (state.word) return answer(state, state.word);
  const { situation } = state;
  switch (situation.at) {
    case 'quiet':
      return quietMoves(state, now);
    case 'asking':
      return openingMoves(state, situation, now);
    case 'open':
      return caseMoves(state, situation.open, now);
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

const caseMoves = (state: CaseState, open: Open, now: number): readonly CaseDraft[] => {
  const { matter, work, withdrawing } = open;
  if (work.at === 'terminating') return terminateMoves(open, now, false);
  if (mustGoOn(open, now)) return resumed(open, (state.life?.number ?? 0) + 1);
  if (withdrawing) return [withdraw(matter, withdrawing, 'the case goes another way')];
  const over = endingOf(open, now);
  if (over && (open.paused || (over.ending === 'recovered' && handsOffUntil(open) > now))) return [];
  if (over) return [...withdrawn(open, over.why), ...droppedDecision(open), closed(matter, over.ending, over.why)];
  const lapsed = lapsedDecision(open, now);
  if (lapsed.length > 0) return lapsed;
  switch (work.at) {
    case 'ruled':
      return ruledMoves(state, open, work, now);
    case 'asked':
      return [];
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

const withdrawn = ({ matter, work }: Open, why: string): readonly CaseDraft[] => {
  if (work.at === 'asked') return [withdraw(matter, work.requestId, why)];
  if (work.at === 'ruled' && work.ruling.admitted) return [withdraw(matter, work.ruling.requestId, why)];
  return [];
};
