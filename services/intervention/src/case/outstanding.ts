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
  /** orders of the case before, which are out too; absent: none, or the state is older than this */
  readonly earlier?: Outstanding | null;
};

/**
 * What a case leaves behind that closes, or whose place another takes; null: nothing that could still end the agent. The orders of the case
 * before stay: the agent may end by any of them.
 */
export const outstandingWith = ({ outstanding }: CaseState, open: Open): Outstanding | null => {
  const known = outstanding ?? null;
  if (known?.death) return known;
  const left = outstandingOf(open);
  return left === null ? known : { ...left, earlier: known && { ...known, earlier: null } };
};

const outstandingOf = (open: Open): Outstanding | null => {
  const { work } = open;
  const isSettled =
    work.at !== 'terminating' || work.receipt?.outcome === 'superseded' || work.receipt?.outcome === 'expired';
  const handoff = open.handoff ?? null;
  const terminate = isSettled ? null : work.orderId;
  const isNone = open.death !== null || (handoff === null && terminate === null);
  return isNone ? null : { handoff, terminate, open, death: null };
};

/** The agent has ended: by one of the orders, or otherwise, and then they are over. One that is lost may live, and end by them yet. */
export const outstandingAfter = ({ outstanding }: CaseState, { reason, orderId }: InstanceEnd): Outstanding | null => {
  if (!outstanding || outstanding.death || reason === 'lost') return outstanding ?? null;
  const ending = each(outstanding).find(({ open }) => isOrderOf(open.matter, orderId));
  return ending ? { ...ending, death: aliveNoMore(ending.open.matter) } : null;
};

const each = (outstanding: Outstanding | null | undefined): readonly Outstanding[] =>
  outstanding ? [outstanding, ...each(outstanding.earlier)] : [];

/** A late receipt of a terminate that was given up. */
export const outstandingReceived = (state: CaseState, payload: OrderReceiptPayload): CaseState => {
  const given = each(state.outstanding).find(({ terminate }) => terminate === payload.orderId);
  const death = confirmedDeath(payload);
  return given && death ? { ...state, outstanding: { ...given, death } } : state;
};

/** What is left of the plan when the agent has ended by an order of a closed case. */
export const outstandingMoves = ({ open, terminate, death }: Outstanding): readonly CaseDraft[] => {
  if (death === null) return [];
  const { matter, index } = open;
  const terminated = terminate !== null ? [agentTerminated(open, death)] : [];
  const recovers = matter.taskId !== null && matter.steps.slice(index).some(({ step }) => step === 'recover');
  return recovers ? [...terminated, recoverTask(matter, matter.taskId, death)] : terminated;
};
