import type { AgentHeartbeatPayload, EventOf, Topic } from '@vigil/events';
import { instant, orderOf, type Statement } from '@vigil/read-model';
import type { PlacedEvent } from '@vigil/stream';
import type { Handlers } from './handlers.ts';
import { journal, told } from './journal.ts';

type T = typeof Topic.agentObservation;
type Of<K extends EventOf<T>['type']> = Extract<PlacedEvent<T>, { readonly type: K }>;

/** Ingest has no versions: what it says of an agent is ordered as it lies in the log, and so is what is judged. */
export const agentObservation: Handlers<T> = {
  AGENT_HEARTBEAT: (event) => [beat(event), ...output(event), ...errors(event)],
  AGENT_EXITED: (event) => [journal(event), exit(event)],
  HOLD_AGENT: (event) => [journal(event), hold(event, true, event.payload.until)],
  RELEASE_AGENT: (event) => [journal(event), hold(event, false, null)],
  CONFIRM_DEATH: told,
  RESET_BREAKER: told,
  FILE_TICKET: told,
};

function beat(event: Of<'AGENT_HEARTBEAT'>): Statement {
  const { payload } = event;
  return {
    kind: 'register',
    table: 'agents',
    key: { agent_id: payload.agent_id },
    group: 'beat',
    order: orderOf(event),
    columns: {
      beat_at: instant(event.occurredAt),
      beat_instance_id: payload.instance_id,
      beat_task_id: payload.task_id,
      beat_runtime_id: payload.runtime_id,
      beat_labels: payload.labels,
      beat_phase: payload.phase,
      beat_progress: payload.progress_indicator,
      beat_activity: payload.activity,
      beat_tokens: payload.token_count,
      beat_errors: payload.error_count,
      beat_door: payload.door,
      beat_interval_ms: payload.interval_ms,
      beat_waiting_for: payload.waiting_for,
      beat_client: payload.client?.name ?? null,
    },
  };
}

function output(event: Of<'AGENT_HEARTBEAT'>): readonly Statement[] {
  const said = event.payload.output;
  if (said === null || said.last_output_at === null) return [];
  return [
    {
      kind: 'register',
      table: 'agents',
      key: { agent_id: event.payload.agent_id },
      group: 'output',
      order: orderOf(event),
      columns: { output_last_at: instant(said.last_output_at), output_tail: said.tail },
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
