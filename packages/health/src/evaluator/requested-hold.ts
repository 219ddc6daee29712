import type { EventOf, Topic } from '@vigil/events';
import { type Clock, Unwelcome } from '@vigil/stream';
import { endedBySilence, type History } from '../history/history.ts';
import { momentOn } from '../history/moment.ts';
import { isOnHold } from '../history/presence/hold.ts';
import { describeEnd } from '../signals/fact.ts';
import type { AgentState, KnownAgent } from './state.ts';

type Requested = Extract<EventOf<typeof Topic.agentObservation>, { type: 'HOLD_AGENT' | 'RELEASE_AGENT' }>;

/** Applies or refuses a person's hold or release. Each is answered by one event. Throws Unwelcome if the agent is unknown. */
export const withHold = (state: AgentState, input: Requested, clock: Clock): KnownAgent => {
  const held = input.type === 'HOLD_AGENT';
  const { agentId, by, why } = input.payload;
  if (state.kind === 'unseen')
    throw new Unwelcome(
      'unknown_agent',
      `${held ? 'a hold' : 'a release'} of ${agentId}, which is unknown: correct the agent's id`,
    );
  const until = input.type === 'HOLD_AGENT' ? input.payload.until : null;
  const { now, watched } = momentOn(state.history.axis, clock);
  const refused = held ? refusedHold(agentId, state.history, now) : refusedRelease(agentId, state.history, now);
  const answer = { held, until, by, why, refused, correlationId: input.correlationId };
  const answered = { ...state, holds: [...(state.holds ?? []), answer] };
  if (refused !== null) return answered;
  const mark = until === null ? watched : watched + Math.max(0, until - now);
  return { ...answered, history: { ...state.history, hold: { until, mark, over: !held } } };
};

/** The reason why the agent cannot be held: a hold keeps an agent from being judged, and an ended one is not judged. */
const refusedHold = (agentId: string, history: History, now: number): string | null => {
  const { end } = endedBySilence(history, now);
  return end === null ? null : `${agentId} has ${describeEnd(end)}. Hold its replacement.`;
};

/** An ended agent can be released: its replacement would still be held. */
const refusedRelease = (agentId: string, { hold }: History, now: number): string | null =>
  isOnHold(hold, now) ? null : `${agentId} is not held: nothing is released.`;
