import type { AgentHeartbeatPayload, EventOf, Topic } from '@vigil/events';
import { instant, orderOf, type Statement } from '@vigil/read-model';
import type { PlacedEvent } from '@vigil/stream';
import type { Handlers } from './handlers.ts';
import { journal, journalOnly } from './journal.ts';

type T = typeof Topic.agentObservation;
type Of<K extends EventOf<T>['type']> = Extract<PlacedEvent<T>, { readonly type: K }>;

/** Observations have no versions: the order of the log orders them. */
export const agentObservation: Handlers<T> = {
  AGENT_HEARTBEAT: (event) => [heartbeat(event), ...output(event), ...errors(event)],
  AGENT_EXITED: (event) => [journal(event), exit(event)],
  HOLD_AGENT: (event) => [journal(event), hold(event, true, event.payload.until)],
  RELEASE_AGENT: (event) => [journal(event), hold(event, false, null)],
  CONFIRM_DEATH: journalOnly,
  RESET_BREAKER: journalOnly,
  FILE_TICKET: journalOnly,
};

function heartbeat(event: Of<'AGENT_HEARTBEAT'>): Statement {
  const { payload } = event;
  return {
    kind: 'register',
    table: 'agents',
    key: { agent_id: payload.agent_id },
    group: 'heartbeat',
    order: orderOf(event),
    columns: {
      heartbeat_at: instant(event.occurredAt),
      heartbeat_instance_id: payload.instance_id,
      heartbeat_task_id: payload.task_id,
      heartbeat_runtime_id: payload.runtime_id,
      heartbeat_labels: payload.labels,
      heartbeat_phase: payload.phase,
      heartbeat_progress: payload.progress_indicator,
      heartbeat_activity: payload.activity,
      heartbeat_tokens: payload.token_count,
      heartbeat_errors: payload.error_count,
      heartbeat_ingress: payload.ingress,
      heartbeat_interval_ms: payload.interval_ms,
      heartbeat_waiting_for: payload.waiting_for,
      heartbeat_client: payload.client?.name ?? null,
    },
  };
}

function output(event: Of<'AGENT_HEARTBEAT'>): readonly Statement[] {
  const reported = event.payload.output;
  if (reported === null || reported.last_output_at === null) return [];
  return [
    {
      kind: 'register',
      table: 'agents',
      key: { agent_id: event.payload.agent_id },
      group: 'output',
      order: orderOf(event),
      columns: { output_last_at: instant(reported.last_output_at), output_tail: reported.tail },
    },
  ];
}

const readable = (error: AgentHeartbeatPayload['errors'][number]) => ({
  at: error.at,
  count: error.count,
  errorClass: error.error_class,
  message: error.message,
});

function errors(event: Of<'AGENT_HEARTBEAT'>): readonly Statement[] {
  if (event.payload.errors.length === 0) return [];
  return [
    {
      kind: 'register',
      table: 'agents',
      key: { agent_id: event.payload.agent_id },
      group: 'errors',
      order: orderOf(event),
      columns: { errors_instance_id: event.payload.instance_id, errors: event.payload.errors.map(readable) },
    },
  ];
}

function exit(event: Of<'AGENT_EXITED'>): Statement {
  const { payload } = event;
  return {
    kind: 'register',
    table: 'agents',
    key: { agent_id: payload.agentId },
    group: 'exit',
    order: orderOf(event),
    columns: {
      exit_at: instant(event.occurredAt),
      exit_instance_id: payload.instanceId,
      exit_code: payload.code,
      exit_signal: payload.signal,
      exit_reason: payload.reason,
      exit_details: payload.details,
      exit_last_output: payload.lastOutput,
    },
  };
}

function hold(event: Of<'HOLD_AGENT' | 'RELEASE_AGENT'>, held: boolean, until: number | null): Statement {
  return {
    kind: 'register',
    table: 'agents',
    key: { agent_id: event.payload.agentId },
    group: 'hold',
    order: orderOf(event),
    columns: { held, held_until: instant(until), held_by: event.payload.by, held_why: event.payload.why },
  };
}
