import { Topic } from '@vigil/events';
import { isOrderOf } from './drafts.ts';
import { aliveNoMore, type Ending, type InstanceEnd, type Matter, type Open } from './open.ts';
import { outstandingAfter, outstandingWith } from './outstanding.ts';
import { isRecoveryDecided } from './replan.ts';
import { type CaseInput, type CaseState, inCase, type Situation, unknownLife } from './state.ts';
import { isByItself } from './terminating.ts';

/** From the issue of a terminate, only its receipt moves the case: the ending counts where that order is recalled. */
export const endingWith = (ending: Ending, why: string) => (open: Open) =>
  open.ending ? open : { ...open, ending: { ending, why } };

export const dropping = (situation: Situation, why: string): Situation =>
  situation.at === 'asking' ? { ...situation, dropped: why } : situation;

export const matterIn = ({ situation }: CaseState): Matter | null => {
  switch (situation.at) {
    case 'quiet':
      return null;
    case 'asking':
      return situation.matter;
    case 'open':
    case 'unconfirmed':
      return situation.open.matter;
  }
};

export const isOfFormerLife = ({ life }: CaseState, { topic, payload }: CaseInput): boolean =>
  topic === Topic.agentHealth &&
  'instanceId' in payload &&
  payload.instanceId !== null &&
  payload.instanceId === life?.former;

/** Another life: numbers begin anew, and what was about the former is over. */
export const livingOn = (state: CaseState, instanceId: string | null, runtimeId: string | null): CaseState => {
  if (state.life?.instanceId === instanceId)
    return { ...state, life: { ...state.life, runtimeId: runtimeId ?? state.life.runtimeId } };
  const former = state.life?.instanceId ?? null;
  const living = { ...state, outstanding: null, life: { ...unknownLife, instanceId, former, runtimeId } };
  const matter = matterIn(state);
  if (matter === null || matter.instanceId === instanceId) return living;
  const over = inCase(
    living,
    endingWith('superseded', `${state.agentId} lives on as ${instanceId ?? 'an unnamed instance'}`),
  );
  if (over.situation.at === 'unconfirmed') return { ...over, situation: { at: 'quiet' } };
  return { ...over, situation: dropping(over.situation, 'another instance') };
};

/** It was taken for dead, and lives: what is found of it from now on is no matter of that death. */
export const risen = (state: CaseState): CaseState => {
  if (state.life === null) return state;
  const buried = state.buried === state.life.instanceId ? null : state.buried;
  const { next } = state;
  return {
    ...state,
    buried,
    life: { ...state.life, ended: false },
    next: next && living(next),
    situation: waking(state),
  };
};

const living = (matter: Matter): Matter => ({ ...matter, ended: false });

/** A case that is not open yet opens on a living one. */
const waking = ({ situation }: CaseState): Situation =>
  situation.at === 'asking' ? { ...situation, matter: living(situation.matter) } : situation;

/** The current instance is no more, as its runtime, a person or a configured source says. */
export const ended = (before: CaseState, end: InstanceEnd): CaseState => {
  const state = { ...before, outstanding: outstandingAfter(before, end) };
  if (state.life === null || matterIn(state)?.ended)
    return { ...state, life: state.life && { ...state.life, ended: true } };
  const life = { ...state.life, ended: true };
  const { situation } = state;
  switch (situation.at) {
    case 'quiet':
      return { ...state, life };
    case 'asking':
      return { ...state, life, situation: dropping(situation, 'the instance has ended') };
    case 'unconfirmed':
      return isByItself(situation.open, end)
        ? { ...state, life, situation: { at: 'quiet' } }
        : { ...state, life, situation: { ...situation, open: endedAt(situation.open, end) } };
    case 'open':
      return { ...inCase(state, (open) => endedIn(open, end)), life };
  }
};

/** What the end of the instance makes of its open case. */
export const endedIn = (open: Open, end: InstanceEnd): Open => {
  const isPlanned = stoppedByHandoff(open, end) || diedAsDecided(open, end);
  return open.work.at !== 'terminating' && isPlanned ? buriedAt(open) : endedAt(open, end);
};

/** It has stopped because it was asked to hand off, by whichever of several orders: the plan goes on with what it left. */
const stoppedByHandoff = ({ matter }: Open, { orderId }: InstanceEnd): boolean => isOrderOf(matter, orderId);

/** People have decided that its task goes to another agent. It died before its end was ordered, so only the recovery is left. */
const diedAsDecided = (open: Open, end: InstanceEnd): boolean => isRecoveryDecided(open) && !isByItself(open, end);

/** Its end was never confirmed, and it goes on: the case is over. What it does from now on is judged anew. */
export const goesOn = (state: CaseState): CaseState => {
  const { situation } = state;
  if (situation.at !== 'unconfirmed') return state;
  return { ...state, situation: { at: 'quiet' }, outstanding: outstandingWith(state, situation.open) };
};

/** What people gave it more time for is over, and so is what its next step waits for. */
const buriedAt = (open: Open): Open => ({
  ...open,
  ...(open.work.at === 'asked' ? { work: { at: 'turn' }, withdrawing: open.work.requestId } : {}),
  moreTime: { ...open.moreTime, until: 0 },
  death: open.death ?? aliveNoMore(open.matter),
  ending: null,
  paused: null,
});

const endedAt = (open: Open, end: InstanceEnd): Open => {
  if (open.death) return open;
  if (open.work.at === 'terminating') return { ...open, work: { ...open.work, ended: end } };
  const why = end.reason === null ? 'the instance has ended' : `the instance has ended: ${end.reason}`;
  return { ...endingWith('superseded', why)(open), paused: null };
};
