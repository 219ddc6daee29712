import type { Topic } from '@vigil/events';
import { instant, orderOf, type Statement } from '@vigil/read-model';
import type { PlacedEvent } from '@vigil/stream';
import { answered, dismissed } from './findings.ts';
import type { Handlers } from './handlers.ts';
import { journal, journalOnly } from './journal.ts';

type Event = PlacedEvent<typeof Topic.alert>;
type Of<K extends Event['type']> = Extract<Event, { readonly type: K }>;

export const alert: Handlers<typeof Topic.alert> = {
  ALERT_RAISED: (event) => [journal(event), content(event), raised(event)],
  ALERT_UPDATED: (event) => [journal(event), content(event)],
  ALERT_ACKNOWLEDGED: (event) => [journal(event), acknowledged(event)],
  ALERT_RESOLVED: (event) => [journal(event), resolved(event)],
  ALERT_DELIVERED: (event) => [delivered(event)],
  SILENCE_CHANGED: journalOnly,
  QUEEN_INTERVENTION_REQUESTED: (event) => [journal(event), answered(event)],
  TICKET_DISMISSED: (event) => [journal(event), dismissed(event)],
};

function content(event: Of<'ALERT_RAISED' | 'ALERT_UPDATED'>): Statement {
  const { payload } = event;
  return {
    kind: 'register',
    table: 'alerts',
    key: { alert_id: payload.alertId },
    group: 'content',
    order: orderOf(event),
    columns: {
      alert_key: payload.alertKey,
      route: payload.route,
      severity: payload.severity,
      title: payload.title,
      text: payload.text,
      agent_id: payload.agentId,
      task_id: payload.taskId,
      episode_id: payload.episodeId,
      case_id: payload.caseId,
      labels: payload.labels,
      options: payload.options,
      deadline_at: instant(payload.deadlineAt),
      updated_at: instant(event.occurredAt),
    },
  };
}

const raised = (event: Of<'ALERT_RAISED'>): Statement => ({
  kind: 'register',
  table: 'alerts',
  key: { alert_id: event.payload.alertId },
  group: 'raised',
  order: orderOf(event),
  columns: { raised_at: instant(event.occurredAt) },
});

const acknowledged = (event: Of<'ALERT_ACKNOWLEDGED'>): Statement => ({
  kind: 'register',
  table: 'alerts',
  key: { alert_id: event.payload.alertId },
  group: 'ack',
  order: orderOf(event),
  columns: { acknowledged_at: instant(event.occurredAt), acknowledged_by: event.payload.by },
});

const resolved = (event: Of<'ALERT_RESOLVED'>): Statement => ({
  kind: 'register',
  table: 'alerts',
  key: { alert_id: event.payload.alertId },
  group: 'resolved',
  order: orderOf(event),
  columns: { resolved_at: instant(event.occurredAt) },
});

const delivered = (event: Of<'ALERT_DELIVERED'>): Statement => ({
  kind: 'fact',
  table: 'deliveries',
  key: { event_id: event.eventId },
  columns: {
    alert_id: event.payload.alertId,
    of_event_id: event.payload.ofEventId,
    sink: event.payload.sink,
    attempt: event.payload.attempt,
    ok: event.payload.ok,
    detail: event.payload.detail,
    occurred_at: instant(event.occurredAt),
  },
});
