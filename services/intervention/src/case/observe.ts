import type { EventOf, Topic } from '@vigil/events';
import type { Clock } from '@vigil/stream';
import { dropping, ended, endingWith, goesOn, isOfFormerLife, livingOn, matterIn, risen } from './life.ts';
import { figuresOf, matterOfWarrant } from './matter.ts';
import type { Ending, Open } from './open.ts';
import { outstandingReceived } from './outstanding.ts';
import { isAskedAgain, recalled } from './recalled.ts';
import { receiptRead } from './receipt.ts';
import { isRecoveryDecided, replanned, restarted } from './replan.ts';
import { type CaseInput, type CaseState, type Episode, inCase } from './state.ts';
import { answersProbe } from './steps/interrogate.ts';

type Health = EventOf<typeof Topic.agentHealth>;
type Warrant = Extract<Health, { readonly type: 'WARRANT_FILED' | 'WARRANT_RENEWED' }>;
type Lapsed = Extract<Health, { readonly type: 'WARRANT_LAPSED' }>;
type Answered = Extract<Health, { readonly type: 'AGENT_ANSWERED' }>;

export const observe = (state: CaseState, input: CaseInput, clock: Clock): CaseState => {
  const known = { ...state, agentId: input.payload.agentId ?? state.agentId };
  if (isOfFormerLife(known, input)) return known;
  switch (input.type) {
    case 'WARRANT_FILED':
    case 'WARRANT_RENEWED':
      return warranted(livingOn(known, input.payload.instanceId, input.payload.runtimeId), input);
    case 'WARRANT_LAPSED':
      return lapsed(known, input);
    case 'HEALTH_STATE_CHANGED': {
      const living = livingOn(known, input.payload.instanceId, input.payload.runtimeId);
      const { from, to, endReason: reason, endOrderId: orderId, endReported: isReported } = input.payload;
      if (to === 'TERMINATED') return ended(living, { reason, orderId, isReported });
      const here = from === 'TERMINATED' ? risen(living) : living;
      return to === 'HEALTHY' ? goesOn(here) : here;
    }
    case 'INSTANCE_STARTED':
    case 'BREAKER_RESET_ASKED':
      return livingOn(known, input.payload.instanceId, input.payload.runtimeId);
    case 'AGENT_ANSWERED':
      return answered(known, input.payload);
    case 'ORDER_RECEIPT':
      if (input.payload.outcome === 'halted' || isAskedAgain(known, input.payload, clock.now))
        return recalled(known, input.payload.orderId);
      return receiptRead(outstandingReceived(known, input.payload), input.payload);
    case 'STEP_ADMITTED':
    case 'STEP_WITHHELD':
    case 'DECIDE_CASE':
    case 'REQUEST_STEP':
    case 'EXEMPTION_CHANGED':
    case 'WAIT_OVERDUE':
    case 'WAIT_ENDED':
    case 'CIRCUIT_BREAKER_STATE_CHANGED':
    case 'WORKER_ESCALATION_TICKET':
    case 'DUPLICATE_INSTANCE':
      return known;
  }
};

const warranted = (state: CaseState, warrant: Warrant): CaseState => {
  const current = matterIn(state);
  const known =
    warrant.payload.endReason !== null && !current?.ended
      ? ended(state, { reason: warrant.payload.endReason, orderId: null, isReported: true })
      : state;
  const { situation } = known;
  const sameLife = current?.instanceId === warrant.payload.instanceId && warrant.payload.endReason === null;
  if (situation.at === 'open' && sameLife && current.warrantId !== null && situation.open.work.at !== 'terminating')
    return inCase(known, (open) => replanned(open, matterOfWarrant(warrant)));
  if (situation.at === 'asking' && situation.matter.warrantId === warrant.payload.warrantId)
    return { ...known, situation: { ...situation, matter: { ...situation.matter, ...figuresOf(warrant.payload) } } };
  return opens(known, warrant) ? { ...known, next: matterOfWarrant(warrant) } : known;
};

/** A finding opens a case; its renewal only where its plan has not been worked in this episode, and nobody has settled the matter. */
const opens = ({ buried, episode, situation }: CaseState, { type, payload }: Warrant): boolean => {
  if (buried !== null && buried === payload.instanceId) return false;
  const known = episode?.id === payload.episodeId ? episode : null;
  if (type === 'WARRANT_FILED')
    return !(situation.at === 'unconfirmed' && known !== null && payload.endReason === null);
  if (situation.at === 'open' && situation.open.matter.warrantId === payload.warrantId) return false;
  return known === null || !(known.settled || known.worked.includes(payload.planName));
};

const lapses: Readonly<Record<Lapsed['payload']['why'], readonly [Ending, string]>> = {
  progress: ['recovered', 'the agent progresses'],
  new_instance: ['superseded', 'another instance lives'],
  ended: ['superseded', 'the instance has ended'],
  held: ['pardoned', 'a person holds the agent'],
  excluded: ['pardoned', 'the policy excludes the agent'],
  UNKNOWN: ['expired', 'the finding no longer holds'],
};

const lapsed = (state: CaseState, { payload }: Lapsed): CaseState => {
  const rest = state.next?.warrantId === payload.warrantId ? { ...state, next: null } : state;
  if (matterIn(rest)?.warrantId !== payload.warrantId) return rest;
  const [ending, why] = lapses[payload.why];
  if (rest.situation.at === 'unconfirmed') return payload.why === 'ended' ? rest : goesOn(rest);
  const over = inCase(rest, (open) =>
    isDecided(open, payload.why) || (open.death && payload.why === 'ended') ? open : endingWith(ending, why)(open),
  );
  return { ...over, situation: dropping(over.situation, why) };
};

/** People have decided, and know what they do: that the finding holds no longer changes nothing. Of an end its own report says more. */
const isDecided = (open: Open, why: Lapsed['payload']['why']): boolean => {
  if (why === 'ended') return isRecoveryDecided(open);
  return open.matter.by !== null && (why === 'progress' || why === 'UNKNOWN');
};

/**
 * In answer to nudges or by itself: there is nothing more to ask, and a plan whose step is withheld begins again, unless a person has decided. A reply that
 * carries our probe's nonce closes the case as pardoned, unless a person has decided.
 */
const answered = (state: CaseState, { instanceId, nonce }: Answered['payload']): CaseState =>
  inCase({ ...state, episode: state.episode && heard(state.episode) }, (open) => {
    if (open.matter.instanceId !== instanceId) return open;
    const isWithheld = open.work.at === 'asked' && open.work.withheld !== null;
    const told = isWithheld && open.matter.by === null ? restarted(open) : { ...open, answered: true };
    return nonce !== null && open.matter.by === null && answersProbe(open, nonce)
      ? endingWith('pardoned', 'it has answered the probe')(told)
      : told;
  });

const heard = ({ withheld, ...episode }: Episode): Episode => (withheld?.question ? { ...episode, withheld } : episode);
