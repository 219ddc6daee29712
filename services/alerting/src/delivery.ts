import type { Draft, EventOf, Topic } from '@vigil/events';
import type { Sink, Telling } from './sink.ts';

type Alert = EventOf<typeof Topic.alert>;

/** What sinks are told now; null: nothing. */
export function tellingOf(event: Alert): Telling | null {
  switch (event.type) {
    case 'ALERT_RAISED':
    case 'ALERT_UPDATED':
    case 'ALERT_RESOLVED':
      return event.payload.deliverAt === null ? null : event;
    case 'ALERT_ACKNOWLEDGED':
    case 'ALERT_DELIVERED':
    case 'SILENCE_CHANGED':
    case 'QUEEN_INTERVENTION_REQUESTED':
    case 'TICKET_DISMISSED':
      return null;
  }
}

/** Tells one sink, and says so. Rejects as the sink does. */
export const deliver =
  (sink: Sink) =>
  async (event: Alert): Promise<readonly Draft<typeof Topic.alert>[]> => {
    const telling = tellingOf(event);
    if (telling === null) return [];
    await sink.tell(telling);
    const { alertKey, alertId } = telling.payload;
    const outcome = { sink: sink.name, attempt: 1, ok: true, detail: null };
    const payload = { alertKey, alertId, ofEventId: event.eventId, ...outcome };
    return [{ topic: 'onex.evt.alerting.alert.v1', type: 'ALERT_DELIVERED', key: alertKey, payload }];
  };
