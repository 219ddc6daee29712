import type { OrderReceiptPayload } from '@vigil/events';
import type { ActiveCase, Delivery, Nudged, TerminateReceipt } from './active-case.ts';
import { deathByEnd, type InstanceEnd, knownAtEnd } from './case-context.ts';
import { isOrderOf } from './drafts.ts';
import type { CaseDraft, CaseState, Outstanding } from './state.ts';
import { recoverTask } from './steps/recover.ts';
import { agentTerminated } from './terminating.ts';

const terminateReceipt = (payload: OrderReceiptPayload): TerminateReceipt | null => {
  const { outcome, confirmed, why } = payload;
  switch (outcome) {
    case 'done':
    case 'superseded':
    case 'expired':
    case 'uncertain':
    case 'failed':
      return { outcome, confirmed, why, death: deathOf(payload) };
    case 'delivered':
    case 'answered':
    case 'halted':
    case 'UNKNOWN':
      return null;
  }
};

/** The death that a receipt confirms; null: none. */
export const confirmedDeath = (payload: OrderReceiptPayload): TerminateReceipt['death'] | null =>
  payload.outcome === 'done' && payload.confirmed ? deathOf(payload) : null;

const deathOf = ({ completedWork, remainingWork, ...receipt }: OrderReceiptPayload) => ({
  forced: receipt.forced,
  checkpoint: receipt.checkpoint,
  completedWork: completedWork.length > 0 ? completedWork : (receipt.checkpoint?.completedWork ?? []),
  remainingWork: remainingWork.length > 0 ? remainingWork : (receipt.checkpoint?.remainingWork ?? []),
  claimsReleased: receipt.claimsReleased,
  forensics: receipt.forensics,
});

type Outcome = OrderReceiptPayload['outcome'];
type Kind = OrderReceiptPayload['kind'];

const ENDS: readonly Kind[] = ['terminate'];
const TURNS: readonly Kind[] = ['interrupt', 'resume_session'];
const TEXTS: readonly Kind[] = ['nudge', 'probe'];
const HANDOFFS: readonly Kind[] = ['handoff'];

/** The kinds of receipts that answer the order of this id; null: the case remembers no such order. */
const kindsFor = ({ situation, outstanding }: CaseState, orderId: string): readonly Kind[] | null => {
  if (each(outstanding).some(({ terminate }) => terminate === orderId)) return ENDS;
  if (situation.kind !== 'open' && situation.kind !== 'unconfirmed') return null;
  const { stepState, attempt, handoff, nudges } = situation.activeCase;
  if (stepState.kind === 'terminating' && stepState.orderId === orderId) return ENDS;
  if (attempt.order?.orderId === orderId) return TURNS;
  if (handoff === orderId) return HANDOFFS;
  return nudges.some((nudge) => nudge.orderId === orderId) ? TEXTS : null;
};

/**
 * Whether a receipt can be the answer to its order. The gateway checks this for tokens with claims, but not for the
 * operator's token, and not for what is written to Kafka.
 */
export const isOfItsOrder = (state: CaseState, { orderId, kind }: OrderReceiptPayload): boolean =>
  kindsFor(state, orderId)?.includes(kind) ?? true;

/** A text without confirmed delivery counts as unanswered, as a delivered one does. */
const deliveryOf: Readonly<Record<Outcome, Nudged['outcome']>> = {
  delivered: 'delivered',
  answered: 'delivered',
  done: 'delivered',
  expired: 'undelivered',
  failed: 'undelivered',
  uncertain: 'undelivered',
  // The agent progressed or ended, or a newer order replaced this one: the text was no longer due.
  superseded: 'open',
  halted: 'open',
  UNKNOWN: 'open',
};

/** After these outcomes the order has no effect to wait for. */
const isUndone = (outcome: Outcome): boolean => outcome === 'failed' || outcome === 'expired';

/** What a receipt shows of a delivery; null: the text is still to come. */
const reportOf = ({ outcome, why }: OrderReceiptPayload): Delivery | null => {
  switch (outcome) {
    case 'superseded':
    case 'expired':
    case 'failed':
      return { undelivered: outcome, why };
    case 'delivered':
    case 'answered':
    case 'done':
    case 'uncertain':
      return { undelivered: null, why };
    case 'halted':
    case 'UNKNOWN':
      return null;
  }
};

/** A receipt for the text or the handoff that a person requested. */
const withDelivery = (activeCase: ActiveCase, payload: OrderReceiptPayload): ActiveCase => {
  const { caseContext, handoff, nudges } = activeCase;
  const { orderId } = payload;
  const isText = handoff === orderId || nudges.some((nudge) => nudge.orderId === orderId);
  const delivery = isText && caseContext.warrantId === null ? reportOf(payload) : null;
  return delivery === null ? activeCase : { ...activeCase, delivery };
};

/** The outcome of an order of the case. Receipts for other orders change nothing. */
export const receiptRead = (state: CaseState, payload: OrderReceiptPayload): CaseState => {
  const { situation } = state;
  if (situation.kind !== 'open' && situation.kind !== 'unconfirmed') return state;
  return {
    ...state,
    situation: { ...situation, activeCase: readBy(withDelivery(situation.activeCase, payload), payload) },
  };
};

const readBy = (activeCase: ActiveCase, payload: OrderReceiptPayload): ActiveCase => {
  if (activeCase.stepState.kind === 'terminating' && activeCase.stepState.orderId === payload.orderId)
    return {
      ...activeCase,
      stepState: { ...activeCase.stepState, receipt: terminateReceipt(payload) ?? activeCase.stepState.receipt },
    };
  const { order } = activeCase.attempt;
  if (order?.orderId === payload.orderId)
    return {
      ...activeCase,
      attempt: { ...activeCase.attempt, order: { ...order, isUndone: isUndone(payload.outcome) } },
    };
  if (!activeCase.nudges.some((nudge) => nudge.orderId === payload.orderId)) return activeCase;
  const nudges = activeCase.nudges.map((nudge) =>
    nudge.orderId === payload.orderId && nudge.outcome !== 'delivered'
      ? { orderId: nudge.orderId, outcome: deliveryOf[payload.outcome] }
      : nudge,
  );
  return { ...activeCase, nudges, answered: activeCase.answered || payload.outcome === 'answered' };
};

/**
 * What a case leaves behind that closes, or whose place another takes; null: nothing that could still end the agent. The orders of the case
 * before stay: the agent may end by any of them.
 */
export const outstandingWith = ({ outstanding, instance }: CaseState, activeCase: ActiveCase): Outstanding | null => {
  const known = outstanding ?? null;
  if (known?.death) return known;
  const left = activeCase.death === null || instance?.isLost ? outstandingOf(activeCase) : null;
  return left === null ? known : { ...left, earlier: known && { ...known, earlier: null } };
};

const outstandingOf = (activeCase: ActiveCase): Outstanding | null => {
  const { stepState } = activeCase;
  const isSettled =
    stepState.kind !== 'terminating' ||
    stepState.receipt?.outcome === 'superseded' ||
    stepState.receipt?.outcome === 'expired';
  const handoff = activeCase.handoff ?? null;
  const terminate = isSettled ? null : stepState.orderId;
  return handoff === null && terminate === null ? null : { handoff, terminate, activeCase, death: null };
};

/** The agent has ended, so its orders are over. A lost agent may be alive and still end by one of them. */
export const outstandingAfter = ({ outstanding }: CaseState, end: InstanceEnd): Outstanding | null => {
  const { reason, orderId } = end;
  if (!outstanding || outstanding.death || reason === 'lost') return outstanding ?? null;
  const ending = each(outstanding).find(({ activeCase }) => isOrderOf(activeCase.caseContext, orderId));
  return ending ? { ...ending, death: deathByEnd(knownAtEnd(ending.activeCase.caseContext, end)) } : null;
};

const each = (outstanding: Outstanding | null | undefined): readonly Outstanding[] =>
  outstanding ? [outstanding, ...each(outstanding.earlier)] : [];

/** A late receipt of a terminate that was given up. */
export const outstandingReceived = (state: CaseState, payload: OrderReceiptPayload): CaseState => {
  const given = each(state.outstanding).find(({ terminate }) => terminate === payload.orderId);
  const death = confirmedDeath(payload);
  return given && death ? { ...state, outstanding: { ...given, death } } : state;
};

/** The rest of the plan after the agent ended by an order of a closed case. */
export const outstandingMoves = ({ activeCase, terminate, death }: Outstanding): readonly CaseDraft[] => {
  if (death === null) return [];
  const { caseContext } = activeCase;
  // The plan was completed because the agent was lost, but it was alive: the plan starts again.
  const index = activeCase.death === null ? activeCase.index : 0;
  const terminated = terminate !== null ? [agentTerminated(activeCase, death)] : [];
  const recovers = caseContext.taskId !== null && caseContext.steps.slice(index).some(({ step }) => step === 'recover');
  return recovers ? [...terminated, recoverTask(caseContext, caseContext.taskId, death)] : terminated;
};
