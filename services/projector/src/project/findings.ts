import type { EventOf, Topic } from '@vigil/events';
import { instant, orderOf, type Statement } from '@vigil/read-model';
import type { PlacedEvent } from '@vigil/stream';

type Of<T extends EventOf<typeof Topic.agentHealth | typeof Topic.alert | typeof Topic.taskRecovery>['type']> = Extract<
  PlacedEvent<typeof Topic.agentHealth | typeof Topic.alert | typeof Topic.taskRecovery>,
  { readonly type: T }
>;

/** A finding without an agent or task has no row; an agent's is under the agent, with any task. */
export function breaker(
  event: Of<'CIRCUIT_BREAKER_STATE_CHANGED'>,
  holder: string | null,
  agentId: string | null,
): readonly Statement[] {
  if (holder === null) return [];
  const { name, to, taskId, failures, nextAttemptAt } = event.payload;
  return [
    {
      kind: 'register',
      table: 'breakers',
      key: { holder, name },
      group: 'breaker',
      order: orderOf(event),
      columns: {
        agent_id: agentId,
        task_id: taskId,
        state: to,
        failures,
        next_attempt_at: instant(nextAttemptAt),
        breaker_since: instant(event.occurredAt),
      },
    },
  ];
}

export const filed = (event: Of<'WORKER_ESCALATION_TICKET'>): Statement => ({
  kind: 'register',
  table: 'tickets',
  key: { ticket_id: event.payload.ticket.ticket_id },
  group: 'filed',
  order: orderOf(event),
  columns: {
    agent_id: event.payload.agentId,
    instance_id: event.payload.instanceId,
    task_id: event.payload.taskId,
    episode_id: event.payload.episodeId,
    labels: event.payload.labels,
    severity: event.payload.ticket.severity,
    ticket: event.payload.ticket,
    findings: event.payload.findings,
    filed_at: instant(event.occurredAt),
  },
});

export const answered = (event: Of<'QUEEN_INTERVENTION_REQUESTED'>): Statement =>
  answer(event, 'intervene', event.payload.queen_stream_id);

export const dismissed = (event: Of<'TICKET_DISMISSED'>): Statement =>
  answer(event, 'dismissed', event.payload.alertKey);

const answer = (
  event: Of<'QUEEN_INTERVENTION_REQUESTED' | 'TICKET_DISMISSED'>,
  given: 'intervene' | 'dismissed',
  alertKey: string,
): Statement => ({
  kind: 'register',
  table: 'tickets',
  key: { ticket_id: event.payload.ticket_id },
  group: 'answer',
  order: orderOf(event),
  columns: {
    answer: given,
    analysis: event.payload.analysis,
    alert_key: alertKey,
    answered_at: instant(event.occurredAt),
  },
});
