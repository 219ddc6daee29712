import type { AtRest } from '@vigil/stream';
import { type ActiveCase, type Decision, unanswered } from './active-case.ts';
import type { CaseContext } from './case-context.ts';
import type { CaseState, Outstanding, Situation } from './state.ts';

/**
 * The stored form of a case. Shape 7 added to the settings of a recovery when attempts are reset, and how many there are an hour. Shape 8 added what the
 * agent has answered. Shape 9 named the `kind` of a decision, which was `what`.
 */
export const AT_REST: AtRest<CaseState> = {
  oldest: 6,
  upgrades: [
    { usual: null, to: (state) => withReset(state as CaseState) },
    { usual: null, to: (state) => withAnswers(state as CaseState) },
    { usual: null, to: (state) => withCases(state as CaseState, caseWithDecisionKind) },
  ],
  usual: null,
};

type Change = (activeCase: ActiveCase) => ActiveCase;

/** Changes each case in a state: the open one, and those with outstanding orders. */
const withCases = (state: CaseState, change: Change): CaseState => ({
  ...state,
  situation:
    'activeCase' in state.situation
      ? { ...state.situation, activeCase: change(state.situation.activeCase) }
      : state.situation,
  ...(state.outstanding && { outstanding: changedOutstanding(state.outstanding, change) }),
});

const changedOutstanding = (outstanding: Outstanding, change: Change): Outstanding => ({
  ...outstanding,
  activeCase: change(outstanding.activeCase),
  ...(outstanding.earlier && { earlier: changedOutstanding(outstanding.earlier, change) }),
});

const caseWithDecisionKind = (activeCase: ActiveCase): ActiveCase => {
  const decision = activeCase.decision as
    | (Omit<Decision, 'kind'> & { readonly what: Decision['kind'] })
    | null
    | undefined;
  return decision ? { ...activeCase, decision: { kind: decision.what, until: decision.until } } : activeCase;
};

const withAnswers = (state: CaseState): CaseState => ({
  ...withCases(state, caseWithAnswers),
  episode: state.episode && { ...state.episode, answers: unanswered },
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
