import type { OrderReceiptPayload } from '@vigil/events';
import type { Clock } from '@vigil/stream';
import { type ActiveCase, type Ending, notBegun } from '../active-case.ts';
import type { InstanceEnd } from '../case-context.ts';
import { isOfItsOrder, outstandingReceived, receiptRead } from '../orders.ts';
import { type CaseInput, type CaseState, type Episode, type InputOf, inCase } from '../state.ts';
import { answersProbe } from '../steps/messages.ts';
import { handingItselfOff, mayHandOff, waitingAgain, withWords } from './answers.ts';
import { contextOfWarrant, figuresOf } from './case-context.ts';
import {
  agentResumed,
  asInstance,
  contextIn,
  dropping,
  ended,
  endedIn,
  endingWith,
  isOfPreviousInstance,
  revived,
} from './instance.ts';
import { isRecoveryDecided, replanned, withWait } from './replan.ts';

type Warrant = InputOf<'WARRANT_FILED' | 'WARRANT_RENEWED'>;
type Lapsed = InputOf<'WARRANT_LAPSED'>;
type Answered = InputOf<'AGENT_ANSWERED'>['payload'];

export const observe = (state: CaseState, input: CaseInput, clock: Clock): CaseState => {
  const known = { ...state, agentId: input.payload.agentId ?? state.agentId };
  if (isOfPreviousInstance(known, input)) return known;
  switch (input.type) {
    case 'WARRANT_FILED':
    case 'WARRANT_RENEWED':
      return warranted(asInstance(known, input.payload.instanceId, input.payload.runtimeId), input, clock.now);
    case 'WARRANT_LAPSED':
      return lapsed(known, input);
    case 'HEALTH_STATE_CHANGED': {
      const asLiving = asInstance(known, input.payload.instanceId, input.payload.runtimeId);
      const { from, to } = input.payload;
      if (to === 'TERMINATED') return ended(asLiving, endOf(input.payload));
      const here = from === 'TERMINATED' ? revived(asLiving) : asLiving;
      return to === 'HEALTHY' ? agentResumed(here) : here;
    }
    case 'INSTANCE_STARTED':
    case 'BREAKER_RESET_ASKED':
      return asInstance(known, input.payload.instanceId, input.payload.runtimeId);
    case 'AGENT_ANSWERED':
      return answered(known, input.payload, clock.now);
    case 'ORDER_RECEIPT':
      if (!isOfItsOrder(known, input.payload)) return known;
      if (input.payload.outcome === 'halted' || isAskedAgain(known, input.payload, clock.now))
        return recalled(known, input.payload.orderId);
      return receiptRead(outstandingReceived(known, input.payload), input.payload);
    case 'STEP_ADMITTED':
    case 'STEP_WITHHELD':
    case 'DECIDE_CASE':
    case 'REQUEST_STEP':
    case 'BLOCK_TASK':
    case 'EXEMPTION_CHANGED':
    case 'WAIT_OVERDUE':
    case 'WAIT_ENDED':
    case 'CLOCK_DRIFTED':
    case 'CLOCK_DRIFT_ENDED':
    case 'CIRCUIT_BREAKER_STATE_CHANGED':
    case 'WORKER_ESCALATION_TICKET':
    case 'DUPLICATE_INSTANCE':
    case 'HOLD_CHANGED':
    case 'HOLD_REFUSED':
    case 'CONTROL_APPLIED':
    case 'CONTROL_REFUSED':
      return known;
  }
};

const endOf = (payload: InputOf<'HEALTH_STATE_CHANGED'>['payload']): InstanceEnd => {
  const { endReason, endOrderId, endReported, endCheckpoint } = payload;
  const checkpoint = endCheckpoint === null ? {} : { checkpoint: endCheckpoint };
  return { reason: endReason, orderId: endOrderId, isReported: endReported, ...checkpoint };
};

const warranted = (state: CaseState, warrant: Warrant, now: number): CaseState => {
  const found = contextOfWarrant(warrant, now);
  const current = contextIn(state);
  const known =
    warrant.payload.endReason !== null && !current?.ended
      ? ended(state, { reason: warrant.payload.endReason, orderId: null, isReported: true })
      : state;
  const { situation } = known;
  const isSameInstance = current?.instanceId === warrant.payload.instanceId && warrant.payload.endReason === null;
  if (
    situation.kind === 'open' &&
    isSameInstance &&
    current.warrantId !== null &&
    situation.activeCase.stepState.kind !== 'terminating'
  )
    return inCase(known, (activeCase) => replanned(withWait(activeCase, found, now), found));
  if (situation.kind === 'asking' && situation.caseContext.warrantId === warrant.payload.warrantId) {
    const { suspendedBy: _, ...before } = situation.caseContext;
    return { ...known, situation: { ...situation, caseContext: { ...before, ...figuresOf(warrant.payload, now) } } };
  }
  return opens(known, warrant) ? { ...known, next: found } : known;
};

/** A finding opens a case. Its renewal opens one only if the plan did not run in this episode and the episode is not settled. */
const opens = ({ acknowledgedDeath, episode, situation }: CaseState, { type, payload }: Warrant): boolean => {
  if (acknowledgedDeath !== null && acknowledgedDeath === payload.instanceId) return false;
  const known = episode?.id === payload.episodeId ? episode : null;
  if (type === 'WARRANT_FILED')
    return !(situation.kind === 'unconfirmed' && known !== null && payload.endReason === null);
  if (situation.kind === 'open' && situation.activeCase.caseContext.warrantId === payload.warrantId) return false;
  return known === null || !(known.settled || known.worked.includes(payload.planName));
};

const lapses: Readonly<Record<Lapsed['payload']['why'], readonly [Ending, string]>> = {
  progress: ['recovered', 'the finding has ended'],
  new_instance: ['superseded', 'another instance is alive'],
  ended: ['superseded', 'the instance has ended'],
  held: ['pardoned', 'a person holds the agent'],
  excluded: ['pardoned', 'the policy excludes the agent'],
  UNKNOWN: ['expired', 'the finding no longer holds'],
};

const lapsed = (state: CaseState, { payload }: Lapsed): CaseState => {
  const rest = state.next?.warrantId === payload.warrantId ? { ...state, next: null } : state;
  if (contextIn(rest)?.warrantId !== payload.warrantId) return rest;
  const [ending, why] = lapses[payload.why];
  if (rest.situation.kind === 'unconfirmed') return payload.why === 'ended' ? rest : agentResumed(rest);
  const over = inCase(rest, (activeCase) =>
    isDecided(activeCase, payload.why) || (activeCase.death && payload.why === 'ended')
      ? activeCase
      : endingWith(ending, why)(activeCase),
  );
  return { ...over, situation: dropping(over.situation, why) };
};

/** After a person's decision, a lapsed finding changes nothing. An end has its own report. */
const isDecided = (activeCase: ActiveCase, why: Lapsed['payload']['why']): boolean => {
  if (why === 'ended') return isRecoveryDecided(activeCase);
  return activeCase.caseContext.by !== null && (why === 'progress' || why === 'UNKNOWN');
};

/**
 * In answer to nudges or by itself: there is nothing more to ask. A reply that carries our probe's nonce closes the case as pardoned. A request for a
 * handoff begins one. Any other answer starts the wait again, once an episode. Where a person has decided, only the words are kept.
 */
const answered = (state: CaseState, answer: Answered, now: number): CaseState =>
  inCase({ ...state, episode: state.episode && withoutResumePoint(state.episode) }, (activeCase) => {
    if (activeCase.caseContext.instanceId !== answer.instanceId) return activeCase;
    const updated = { ...withWords(activeCase, answer), answered: true };
    if (activeCase.caseContext.by !== null) return updated;
    if (answer.nonce !== null && answersProbe(activeCase, answer.nonce))
      return endingWith('pardoned', 'it has answered the probe')(updated);
    return answer.how === 'handoff' && mayHandOff(activeCase)
      ? handingItselfOff(updated, now)
      : waitingAgain(updated, now);
  });

const withoutResumePoint = ({ withheld, ...episode }: Episode): Episode =>
  withheld?.question ? { ...episode, withheld } : episode;

/**
 * An order from before a halt that its runtime had not begun, and never will: its step is asked for again, where the case still wants it. A
 * pause is not made up for.
 */
export const recalled = (state: CaseState, orderId: string): CaseState => {
  const { situation, instance } = state;
  if (situation.kind !== 'open') return state;
  const { activeCase } = situation;
  const { caseContext, stepState, attempt, handoff, nudges } = activeCase;
  const step = caseContext.steps[activeCase.index]?.step;
  // The newest request is the one by which it was admitted.
  const unused = `${caseContext.caseId}-r${state.requests}`;
  const as = (changed: ActiveCase): CaseState => ({ ...state, situation: { kind: 'open', activeCase: changed } });
  if (stepState.kind === 'terminating' && stepState.orderId === orderId) {
    const undone: ActiveCase = { ...activeCase, stepState: { kind: 'turn' }, withdrawing: unused };
    return as(stepState.ended === null ? undone : endedIn(undone, stepState.ended));
  }
  if (attempt.order?.orderId === orderId) {
    if (step !== 'resume') return as({ ...activeCase, attempt: notBegun });
    const resumedAt = attempt.order.resumedBefore ?? null;
    const undone = as({ ...activeCase, attempt: notBegun, withdrawing: unused, resumedAt });
    return { ...undone, instance: instance && { ...instance, resumedAt } };
  }
  if (handoff === orderId && step === 'handoff' && attempt.sent > 0)
    return as({ ...activeCase, attempt: notBegun, handoff: null });
  if (nudges.at(-1)?.orderId !== orderId || stepState.kind !== 'turn' || attempt.sent === 0) return state;
  return as({ ...activeCase, nudges: nudges.slice(0, -1), attempt: { ...attempt, sent: attempt.sent - 1, lastAt: 0 } });
};

/** The order of a decided end expired before its runtime could start it: requests it again while the decision is fresh. */
export const isAskedAgain = (
  { situation }: CaseState,
  { orderId, outcome }: OrderReceiptPayload,
  now: number,
): boolean => {
  if (outcome !== 'expired' || situation.kind !== 'open') return false;
  const { activeCase } = situation;
  const { stepState, decision } = activeCase;
  if (stepState.kind !== 'terminating' || stepState.orderId !== orderId || stepState.ended !== null) return false;
  return isRecoveryDecided(activeCase) && decision ? now < decision.until : false;
};
