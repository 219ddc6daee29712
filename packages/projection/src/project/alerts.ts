import type { Topic } from '@vigil/events';
import { fact, register, type Statement } from '@vigil/read-model';
import { type Handlers, journal, type Placed } from './handlers.ts';

type T = typeof Topic.alert;

export const alert: Handlers<T> = {
  ALERT_RAISED: (event) => [
    journal(event),
    content(event),
    register(event, 'alerts', 'raised', { alertId: event.payload.alertId, raisedAt: event.occurredAt }),
  ],
  ALERT_UPDATED: (event) => [journal(event), content(event)],
  ALERT_ACKNOWLEDGED: (event) => {
    const { alertId, by } = event.payload;
    const values = { alertId, acknowledgedAt: event.occurredAt, acknowledgedBy: by };
    return [journal(event), register(event, 'alerts', 'ack', values)];
  },
  ALERT_RESOLVED: (event) => [
    journal(event),
    register(event, 'alerts', 'resolved', { alertId: event.payload.alertId, resolvedAt: event.occurredAt }),
  ],
  ALERT_DELIVERED: ({ eventId, payload, occurredAt }) => [fact('deliveries', { ...payload, eventId, occurredAt })],
  SILENCE_CHANGED: (event) => {
    const { silenceId, matchers, until, by, why } = event.payload;
    // An event from before silences had ids silenced nothing.
    if (silenceId === '') return [journal(event)];
    const values = { silenceId, matchers, until, changedBy: by, why, changedAt: event.occurredAt };
    return [journal(event), register(event, 'silences', 'silence', values)];
  },
  QUEEN_INTERVENTION_REQUESTED: (event) => [
    journal(event),
    answered(event, 'intervene', event.payload.queen_stream_id),
  ],
  TICKET_ASSESSED: (event) => [journal(event)],
  TICKET_DISMISSED: (event) => [journal(event), answered(event, 'dismissed', event.payload.alertKey)],
};

const content = (event: Placed<T, 'ALERT_RAISED' | 'ALERT_UPDATED'>): Statement =>
  register(event, 'alerts', 'content', {
    ...event.payload,
    contentUrgency: event.payload.urgency,
    updatedAt: event.occurredAt,
  });

const answered = (
  event: Placed<T, 'QUEEN_INTERVENTION_REQUESTED' | 'TICKET_DISMISSED'>,
  answer: 'intervene' | 'dismissed',
  alertKey: string,
): Statement => {
  const { ticket_id: ticketId, analysis } = event.payload;
  return register(event, 'tickets', 'answer', { ticketId, answer, analysis, alertKey, answeredAt: event.occurredAt });
};
