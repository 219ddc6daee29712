import type { AtRest } from '@vigil/stream';
import { type ActiveCase, unanswered } from './active-case.ts';
import type { CaseContext } from './case-context.ts';
import type { CaseState, Outstanding, Situation } from './state.ts';

/**
 * The stored form of a case. Shape 7 added to the settings of a recovery when attempts are reset, and how many there are an hour. Shape 8 added what the
 * agent has answered.
 */
export const AT_REST: AtRest<CaseState> = {
  oldest: 6,
  upgrades: [
    { usual: null, to: (state) => withReset(state as CaseState) },
    { usual: null, to: (state) => withAnswers(state as CaseState) },
  ],
  usual: null,
};

const withAnswers = (state: CaseState): CaseState => ({
  ...state,
  episode: state.episode && { ...state.episode, answers: unanswered },
  situation:
    'activeCase' in state.situation
      ? { ...state.situation, activeCase: caseWithAnswers(state.situation.activeCase) }
      : state.situation,
  ...(state.outstanding && { outstanding: outstandingWithAnswers(state.outstanding) }),
});

const outstandingWithAnswers = (outstanding: Outstanding): Outstanding => ({
  ...outstanding,
  activeCase: caseWithAnswers(outstanding.activeCase),
  ...(outstanding.earlier && { earlier: outstandingWithAnswers(outstanding.earlier) }),
});

const caseWithAnswers = (activeCase: ActiveCase): ActiveCase => ({
  ...activeCase,
  answers: unanswered,
  reminder: 'none',
  handoffAsked: null,
});

const withReset = (state: CaseState): CaseState => ({
  ...state,
  situation: situationWithReset(state.situation),
  ...(state.outstanding && { outstanding: outstandingWithReset(state.outstanding) }),
  unconfirmed: state.unconfirmed && contextWithReset(state.unconfirmed),
  next: state.next && contextWithReset(state.next),
});

const situationWithReset = (situation: Situation): Situation => {
  switch (situation.kind) {
    case 'quiet':
      return situation;
    case 'asking':
      return { ...situation, caseContext: contextWithReset(situation.caseContext) };
    case 'open':
    case 'unconfirmed':
      return { ...situation, activeCase: caseWithReset(situation.activeCase) };
  }
};

const outstandingWithReset = (outstanding: Outstanding): Outstanding => ({
  ...outstanding,
  activeCase: caseWithReset(outstanding.activeCase),
  ...(outstanding.earlier && { earlier: outstandingWithReset(outstanding.earlier) }),
});

const caseWithReset = (activeCase: ActiveCase): ActiveCase => ({
  ...activeCase,
  caseContext: contextWithReset(activeCase.caseContext),
});

const contextWithReset = (context: CaseContext): CaseContext => ({
  ...context,
  recovery: { ...context.recovery, resetAttempts: 'after_stable', maxAttemptsPerHour: null },
});
