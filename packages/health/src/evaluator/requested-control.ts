import type { AgentControl, EventOf, Topic } from '@vigil/events';
import { type Clock, Unwelcome } from '@vigil/stream';
import { breakerReset, isHeld } from '../history/calls/breakers.ts';
import { describeEnd } from '../signals/fact.ts';
import { withTicket } from './requested-ticket.ts';
import type { AgentState, ControlAnswer, KnownAgent } from './state.ts';

type Observation = EventOf<typeof Topic.agentObservation>;
type Requested<K extends Observation['type']> = Extract<Observation, { readonly type: K }>;

/** The fields of an answer that a command determines. */
type Asked = Omit<ControlAnswer, 'refused'>;

const ALONE = { groupId: null, of: 1 } as const;

const answered = (state: KnownAgent, asked: Asked, refused: string | null): KnownAgent => ({
  ...state,
  controls: [...(state.controls ?? []), { ...asked, refused }],
});

/**
 * Ends the instance whose death a person or a source confirms. An instance that has ended before is confirmed as well.
 * Throws Unwelcome if the agent is unknown.
 */
export const withDeath = (state: AgentState, input: Requested<'CONFIRM_DEATH'>, { now }: Clock): KnownAgent => {
  const { agentId, instanceId, by, why, groupId, of } = input.payload;
  if (state.kind === 'unseen') throw unknown('the confirmed death', agentId);
  const asked = askedBy('confirm_death', { by, why, groupId, of, correlationId: input.correlationId });
  const { history } = state;
  const current = history.identity.instanceId;
  if (instanceId !== null && instanceId !== current) {
    const present = current === null ? 'an instance without an id' : `instance ${current}`;
    return answered(
      state,
      asked,
      `${agentId} is ${present} now, and not ${instanceId}: confirm the death of that one.`,
    );
  }
  if (history.end !== null) return answered(state, asked, null);
  const end = { reason: 'lost', at: now, orderId: null, bySelf: false } as const;
  return answered({ ...state, history: { ...history, end } }, asked, null);
};

/**
 * Closes a breaker that Vigil counts. If the agent holds the breaker itself, an event requests the close, and is the answer.
 * Throws Unwelcome if the agent is unknown.
 */
export const withReset = (state: AgentState, { payload, correlationId }: Requested<'RESET_BREAKER'>): KnownAgent => {
  const { agentId, name, by, why } = payload;
  if (state.kind === 'unseen') throw unknown('a reset of a breaker', agentId);
  const asked = askedBy('reset_breaker', { by, why, ...ALONE, correlationId });
  const { history } = state;
  if (isHeld(history.breakers, name)) {
    if (history.end === null) return { ...state, resets: [...state.resets, { name, by, why, correlationId }] };
    return answered(
      state,
      asked,
      `${agentId} has ${describeEnd(history.end)}: only it could close its breaker ${name}.`,
    );
  }
  const breakers = breakerReset(history.breakers, name);
  if (breakers === history.breakers)
    return answered(state, asked, `breaker ${name} of ${agentId} is closed: nothing is reset.`);
  return answered({ ...state, history: { ...history, breakers } }, asked, null);
};

/** Files a ticket of another program. Throws Unwelcome if the ticket is wrong, or the agent is unknown. */
export const withFiledTicket = (state: AgentState, input: Requested<'FILE_TICKET'>): KnownAgent => {
  const { ticket, by } = input.payload;
  const asked = askedBy('file_ticket', {
    by,
    why: ticket.judge_reasoning,
    ...ALONE,
    correlationId: input.correlationId,
  });
  return answered(withTicket(state, input.key, ticket), asked, null);
};

const askedBy = (control: AgentControl, asked: Omit<Asked, 'control'>): Asked => ({ control, ...asked });

const unknown = (what: string, agentId: string): Unwelcome =>
  new Unwelcome('unknown_agent', `${what} of ${agentId}, which is unknown: correct the agent's id`);
