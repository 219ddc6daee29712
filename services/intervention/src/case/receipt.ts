import type { OrderReceiptPayload } from '@vigil/events';
import type { Nudged, Open, TerminateReceipt } from './open.ts';
import type { CaseState } from './state.ts';

const terminateReceipt = (payload: OrderReceiptPayload): TerminateReceipt | null => {
  const { outcome, confirmed, why, checkpoint } = payload;
  switch (outcome) {
    case 'done':
    case 'superseded':
    case 'expired':
    case 'uncertain':
    case 'failed':
      return { outcome, confirmed, why, death: deathOf(payload, checkpoint) };
    case 'delivered':
    case 'answered':
    case 'halted':
    case 'UNKNOWN':
      return null;
  }
};

/** What a receipt tells of a death; null: it confirms none. */
export const confirmedDeath = (payload: OrderReceiptPayload): TerminateReceipt['death'] | null =>
  payload.outcome === 'done' && payload.confirmed ? deathOf(payload, payload.checkpoint) : null;

const deathOf = (payload: OrderReceiptPayload, checkpoint: OrderReceiptPayload['checkpoint']) => ({
  forced: payload.forced,
  checkpoint,
  completedWork: payload.completedWork.length > 0 ? payload.completedWork : (checkpoint?.completedWork ?? []),
  remainingWork: payload.remainingWork.length > 0 ? payload.remainingWork : (checkpoint?.remainingWork ?? []),
  claimsReleased: payload.claimsReleased,
  forensics: payload.forensics,
});

type Outcome = OrderReceiptPayload['outcome'];

/** A text that could not be delivered, or of which nothing shows that the agent has it, is unanswered like one that was. */
const deliveryOf: Readonly<Record<Outcome, Nudged['outcome']>> = {
  delivered: 'delivered',
  answered: 'delivered',
  done: 'delivered',
  expired: 'undelivered',
  failed: 'undelivered',
  uncertain: 'undelivered',
  // The agent progressed or ended, or a newer order took its place: the text was not due any more.
  superseded: 'open',
  halted: 'open',
  UNKNOWN: 'open',
};

/** With these the order has no effect that is worth waiting for. */
const isUndone = (outcome: Outcome): boolean => outcome === 'failed' || outcome === 'expired';

/** What became of an order of the case; receipts for any other order change nothing. */
export const receiptRead = (state: CaseState, payload: OrderReceiptPayload): CaseState => {
  const { situation } = state;
  if (situation.at !== 'open' && situation.at !== 'unconfirmed') return state;
  return { ...state, situation: { ...situation, open: readBy(situation.open, payload) } };
};

const readBy = (open: Open, payload: OrderReceiptPayload): Open => {
  if (open.work.at === 'terminating' && open.work.orderId === payload.orderId)
    return { ...open, work: { ...open.work, receipt: terminateReceipt(payload) ?? open.work.receipt } };
  const { order } = open.attempt;
  if (order?.orderId === payload.orderId)
    return { ...open, attempt: { ...open.attempt, order: { ...order, isUndone: isUndone(payload.outcome) } } };
  if (!open.nudges.some((nudge) => nudge.orderId === payload.orderId)) return open;
  const nudges = open.nudges.map((nudge) =>
    nudge.orderId === payload.orderId && nudge.outcome !== 'delivered'
      ? { orderId: nudge.orderId, outcome: deliveryOf[payload.outcome] }
      : nudge,
  );
  return { ...open, nudges, answered: open.answered || payload.outcome === 'answered' };
};
