import type { OrderReceiptPayload } from '@vigil/events';
import { endedIn } from './life.ts';
import { notBegun, type Open } from './open.ts';
import { isRecoveryDecided } from './replan.ts';
import type { CaseState } from './state.ts';

/**
 * An order from before a halt that its runtime had not begun, and never will: its step is asked for again, where the case still wants it. A
 * pause is not made up for.
 */
export const recalled = (state: CaseState, orderId: string): CaseState => {
  const { situation, life } = state;
  if (situation.at !== 'open') return state;
  const { open } = situation;
  const { matter, work, attempt, handoff, nudges } = open;
  const step = matter.steps[open.index]?.step;
  // The newest request is the one by which it was admitted.
  const unused = `${matter.caseId}-r${state.requests}`;
  const as = (changed: Open): CaseState => ({ ...state, situation: { at: 'open', open: changed } });
  if (work.at === 'terminating' && work.orderId === orderId) {
    const undone: Open = { ...open, work: { at: 'turn' }, withdrawing: unused };
    return as(work.ended === null ? undone : endedIn(undone, work.ended));
  }
  if (attempt.order?.orderId === orderId) {
    if (step !== 'resume') return as({ ...open, attempt: notBegun });
    const resumedAt = attempt.order.resumedBefore ?? null;
    const undone = as({ ...open, attempt: notBegun, withdrawing: unused, resumedAt });
    return { ...undone, life: life && { ...life, resumedAt } };
  }
  if (handoff === orderId && step === 'handoff' && attempt.sent > 0)
    return as({ ...open, attempt: notBegun, handoff: null });
  if (nudges.at(-1)?.orderId !== orderId || work.at !== 'turn' || attempt.sent === 0) return state;
  return as({ ...open, nudges: nudges.slice(0, -1), attempt: { ...attempt, sent: attempt.sent - 1, lastAt: 0 } });
};

/** People have decided an end, and its order expired before its runtime could begin it: while the decision is fresh, it is asked for again. */
export const isAskedAgain = (
  { situation }: CaseState,
  { orderId, outcome }: OrderReceiptPayload,
  now: number,
): boolean => {
  if (outcome !== 'expired' || situation.at !== 'open') return false;
  const { open } = situation;
  const { work, decision } = open;
  if (work.at !== 'terminating' || work.orderId !== orderId || work.ended !== null) return false;
  return isRecoveryDecided(open) && decision ? now < decision.until : false;
};
