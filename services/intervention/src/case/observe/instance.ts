import { Topic } from '@vigil/events';
import type { ActiveCase, Ending } from '../active-case.ts';
import { type CaseContext, deathByEnd, type InstanceEnd, knownAtEnd } from '../case-context.ts';
import { isOrderOf } from '../drafts.ts';
import { outstandingAfter, outstandingWith } from '../orders.ts';
import { type CaseInput, type CaseState, inCase, type Situation, unknownInstance } from '../state.ts';
import { isByItself } from '../terminating.ts';
import { handedOff } from './answers.ts';
import { isRecoveryDecided } from './replan.ts';

/** After a terminate is ordered, only its receipt moves the case. If the order is recalled, the other end counts. */
export const endingWith = (ending: Ending, why: string) => (activeCase: ActiveCase) =>
  activeCase.ending ? activeCase : { ...activeCase, ending: { ending, why } };

export const dropping = (situation: Situation, why: string): Situation =>
  situation.kind === 'asking' ? { ...situation, dropped: why } : situation;

export const contextIn = ({ situation }: CaseState): CaseContext | null => {
  switch (situation.kind) {
    case 'quiet':
      return null;
    case 'asking':
      return situation.caseContext;
    case 'open':
    case 'unconfirmed':
      return situation.activeCase.caseContext;
  }
};

export const isOfPreviousInstance = ({ instance }: CaseState, { topic, payload }: CaseInput): boolean =>
  topic === Topic.agentHealth &&
  'instanceId' in payload &&
  payload.instanceId !== null &&
  payload.instanceId === instance?.previous;

/** Another instance starts: its orders are numbered from 1, and everything about the previous one is over. */
export const asInstance = (state: CaseState, instanceId: string | null, runtimeId: string | null): CaseState => {
  if (state.instance?.instanceId === instanceId)
    return { ...state, instance: { ...state.instance, runtimeId: runtimeId ?? state.instance.runtimeId } };
  const previous = state.instance?.instanceId ?? null;
  const asLiving = {
    ...state,
    outstanding: null,
    unconfirmed: null,
    instance: { ...unknownInstance, instanceId, previous, runtimeId },
  };
  const caseContext = contextIn(state);
  if (caseContext === null || caseContext.instanceId === instanceId) return asLiving;
  const over = inCase(
    asLiving,
    endingWith('superseded', `${state.agentId} is alive as ${instanceId ?? 'an unnamed instance'}`),
  );
  if (over.situation.kind === 'unconfirmed') return { ...over, situation: { kind: 'quiet' } };
  return { ...over, situation: dropping(over.situation, 'another instance') };
};

/** The agent was reported dead and is alive: later findings are not about that death. */
export const revived = (state: CaseState): CaseState => {
  if (state.instance === null) return state;
  const acknowledgedDeath = state.acknowledgedDeath === state.instance.instanceId ? null : state.acknowledgedDeath;
  const { next } = state;
  return {
    ...state,
    acknowledgedDeath,
    instance: { ...state.instance, ended: false, isLost: false },
    next: next && asLiving(next),
    situation: situationOfLiving(state),
  };
};

const asLiving = (caseContext: CaseContext): CaseContext => ({ ...caseContext, ended: false });

/** A case that is not open yet opens on a living instance. */
const situationOfLiving = ({ situation }: CaseState): Situation =>
  situation.kind === 'asking' ? { ...situation, caseContext: asLiving(situation.caseContext) } : situation;

/** The current instance has ended, as its runtime, a person or a configured source reports. */
export const ended = (before: CaseState, end: InstanceEnd): CaseState => {
  const state = { ...before, outstanding: outstandingAfter(before, end) };
  const instance = state.instance && { ...state.instance, ended: true, isLost: end.reason === 'lost' };
  if (instance === null || contextIn(state)?.ended) return { ...state, instance };
  const { situation } = state;
  switch (situation.kind) {
    case 'quiet':
      return { ...state, instance };
    case 'asking':
      return { ...state, instance, situation: dropping(situation, 'the instance has ended') };
    case 'unconfirmed':
      return isByItself(situation.activeCase, end)
        ? { ...state, instance, situation: { kind: 'quiet' } }
        : { ...state, instance, situation: { ...situation, activeCase: endedAt(situation.activeCase, end) } };
    case 'open':
      return { ...inCase(state, (activeCase) => endedIn(activeCase, end)), instance };
  }
};

/** The effect of the instance's end on its open case. */
export const endedIn = (before: ActiveCase, end: InstanceEnd): ActiveCase => {
  const activeCase = { ...before, caseContext: knownAtEnd(before.caseContext, end) };
  const isPlanned = stoppedByHandoff(activeCase, end) || diedAsDecided(activeCase, end);
  return activeCase.stepState.kind !== 'terminating' && isPlanned
    ? deathConfirmedIn(activeCase)
    : endedAt(activeCase, end);
};

/** It stopped after a handoff request, by any of several orders. The plan continues with its last report. */
const stoppedByHandoff = ({ caseContext }: ActiveCase, { orderId }: InstanceEnd): boolean =>
  isOrderOf(caseContext, orderId);

/** People decided to move the task to another agent. The agent died before its terminate, so only the recovery is left. */
const diedAsDecided = (activeCase: ActiveCase, end: InstanceEnd): boolean =>
  isRecoveryDecided(activeCase) && !isByItself(activeCase, end);

/** Its end was never confirmed and it continues: closes the case. Its later activity is judged again. */
export const agentResumed = (state: CaseState): CaseState => {
  const { situation } = state;
  if (situation.kind !== 'unconfirmed') return state;
  return { ...state, situation: { kind: 'quiet' }, outstanding: outstandingWith(state, situation.activeCase) };
};

/** The extra time that people gave, and the wait of the next step, are over. */
const deathConfirmedIn = (activeCase: ActiveCase): ActiveCase => ({
  ...handedOff(activeCase),
  ...(activeCase.stepState.kind === 'asked'
    ? { stepState: { kind: 'turn' }, withdrawing: activeCase.stepState.requestId }
    : {}),
  moreTime: { ...activeCase.moreTime, until: 0 },
  death: activeCase.death ?? deathByEnd(activeCase.caseContext),
  ending: null,
  paused: null,
});

const endedAt = (activeCase: ActiveCase, end: InstanceEnd): ActiveCase => {
  if (activeCase.death) return activeCase;
  if (activeCase.stepState.kind === 'terminating')
    return { ...activeCase, stepState: { ...activeCase.stepState, ended: end } };
  const why = end.reason === null ? 'the instance has ended' : `the instance has ended: ${end.reason}`;
  return { ...endingWith('superseded', why)(activeCase), paused: null };
};
