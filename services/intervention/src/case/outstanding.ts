import type { OrderReceiptPayload } from '@vigil/events';
import { isOrderOf } from './drafts.ts';
import { aliveNoMore, type Death, type InstanceEnd, type Open } from './open.ts';
import { confirmedDeath } from './receipt.ts';
import type { CaseDraft, CaseState } from './state.ts';
import { recoverTask } from './steps/recover.ts';
import { agentTerminated } from './terminating.ts';

/**
 * Orders of a case that is closed, and the case: none of them can be taken back, so the agent may still end by one. That end continues the
 * plan. `death`: for one call only.
 */
export type Outstanding = {
  readonly handoff: string | null;
  readonly terminate: string | null;
  readonly open: Open;
  readonly death: Death | null;
};

/** What a case that closes leaves behind; null: nothing that could still end the agent. */
export const outstandingOf = (open: Open): Outstanding | null => {
  const { work } = open;
  const isSettled =
    work.at !== 'terminating' || work.receipt?.outcome === 'superseded' || work.receipt?.outcome === 'expired';
  const handoff = open.handoff ?? null;
  const terminate = isSettled ? null : work.orderId;
  const isNone = open.death !== null || (handoff === null && terminate === null);
  return isNone ? null : { handoff, terminate, open, death: null };
};

/** The agent has ended: by one of the orders, or otherwise, and then they are over. */
export const outstandingAfter = ({ outstanding }: CaseState, { orderId }: InstanceEnd): Outstanding | null => {
  if (!outstanding || outstanding.death) return outstanding ?? null;
  return isOrderOf(outstanding.open.matter, orderId)
    ? { ...outstanding, death: aliveNoMore(outstanding.open.matter) }
    : null;
};

/** A late receipt of a terminate that was given up. */
export const outstandingReceived = (state: CaseState, payload: OrderReceiptPayload): CaseState => {
  const { outstanding } = state;
  const death = outstanding?.terminate === payload.orderId ? confirmedDeath(payload) : null;
  return outstanding && death ? { ...state, outstanding: { ...outstanding, death } } : state;
};

/** What is left of the plan when the agent has ended by an order of a closed case. */
export const outstandingMoves = ({ open, terminate, death }: Outstanding): readonly CaseDraft[] => {
  if (death === null) return [];
  const { matter, index } = open;
  const terminated = terminate !== null ? [agentTerminated(open, death)] : [];
  const recovers = matter.taskId !== null && matter.steps.slice(index).some(({ step }) => step === 'recover');
  return recovers ? [...terminated, recoverTask(matter, matter.taskId, death)] : terminated;
};
