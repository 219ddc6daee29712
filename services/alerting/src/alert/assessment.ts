import type { EventOf, PayloadOf, Topic } from '@vigil/events';
import { reviewRequested } from '../adapters/operator-review.ts';
import type { Alert, RuledTicket } from './alert-state.ts';
import { contentOf } from './content.ts';
import { draft, type Rules, raised, resolved } from './drafts.ts';
import type { Input, Output } from './messages.ts';

type Assess = Extract<EventOf<typeof Topic.notify>, { readonly type: 'ASSESS_TICKET' }>;
export type Assessment = PayloadOf<typeof Topic.notify, 'ASSESS_TICKET'>;
export type Opinion = Assessment['opinion'];

/** People see each critical ticket: no model dismisses it. */
export const mayChange = ({ ticket, ruling }: Pick<RuledTicket, 'ticket' | 'ruling'>): Opinion | null => {
  if (ruling === 'dismiss') return 'raise';
  return ticket.severity === 'critical' ? null : 'dismiss';
};

/** With the ticket that a model may still assess: the newest one, until its episode is over or a person asks for the operator. */
export const withTicket = (state: Alert, input: Input): Alert => {
  switch (input.type) {
    case 'NOTIFY': {
      const { action, ticket } = input.payload;
      if (action === 'resolve') return withoutTicket(state);
      if (ticket === null || (action !== 'raise' && action !== 'dismiss')) return state;
      if (input.occurredAt < state.times.over) return withoutTicket(state);
      const ruled = { ticket, ruling: action, noticeId: input.eventId, content: contentOf(input.payload) };
      return { ...state, ruled };
    }
    case 'NOTIFY_OPERATOR':
    case 'RESOLVE_ALERT':
      return withoutTicket(state);
    case 'ASSESS_TICKET':
    case 'ACKNOWLEDGE_ALERT':
    case 'SILENCE_ALERTS':
    case 'TEST_CHANNEL':
      return state;
  }
};

export const withoutTicket = (state: Alert): Alert => {
  if (state.ruled === undefined) return state;
  const { ruled: _, ...rest } = state;
  return rest;
};

/** The answer of a model, recorded, and what follows from it. An answer about another ticket, or a second one, is nothing. */
export const assessed = (state: Alert, { payload, eventId }: Assess, now: number, rules: Rules): readonly Output[] => {
  const { ruled } = state;
  if (ruled === undefined || ruled.ticket.ticket_id !== payload.ticket_id) return [];
  const follows = followingFrom(state, ruled, payload, { id: eventId, now }, rules);
  const event = draft(state, { type: 'TICKET_ASSESSED', payload: { ...payload, isApplied: follows.length > 0 } });
  return [event, ...follows];
};

type Moment = { readonly id: string; readonly now: number };

const followingFrom = (
  state: Alert,
  ruled: RuledTicket,
  assessment: Assessment,
  moment: Moment,
  rules: Rules,
): readonly Output[] => {
  const { outcome, opinion } = assessment;
  if (outcome !== 'answered' || opinion !== mayChange(ruled)) return [];
  return opinion === 'raise'
    ? raisedBy(state, ruled, assessment, moment, rules)
    : dismissedBy(state, ruled, assessment, moment);
};

/** Only before people are notified, and only the alert that this ticket raised. */
const dismissedBy = (
  state: Alert,
  { ticket, noticeId }: RuledTicket,
  { model, reason }: Assessment,
  { now }: Moment,
): readonly Output[] => {
  const { open, alertKey } = state;
  if (open === null || open.sent !== null || open.alertId !== noticeId || open.acknowledgedBy !== null) return [];
  const { agentId, taskId, episodeId, labels } = open.content;
  const analysis = `${model}: ${reason}`;
  const payload = { alertKey, agentId, taskId, episodeId, labels, ...ticket, analysis };
  const over = { title: `${open.content.title}: dismissed by ${model}`, text: reason };
  return [draft(state, { type: 'TICKET_DISMISSED', payload }), resolved(state, open, over, now)];
};

/** Not where people have an alert of the key already. */
const raisedBy = (
  state: Alert,
  { ticket, content }: RuledTicket,
  { model, reason }: Assessment,
  { id, now }: Moment,
  rules: Rules,
): readonly Output[] => {
  if (state.open !== null) return [];
  const analysis = `${model}: ${reason}; the rules: ${ticket.analysis}`;
  const title = `${content.agentId}: ${ticket.severity} ticket`;
  return [
    draft(state, reviewRequested(state.alertKey, { ...ticket, analysis })),
    raised(state, { ...content, title, text: analysis }, id, now, rules),
  ];
};
