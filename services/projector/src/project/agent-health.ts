import type { EventOf, PayloadOf, Topic } from '@vigil/events';
import { instant, orderOf, type Statement } from '@vigil/read-model';
import type { PlacedEvent } from '@vigil/stream';
import { breaker, filed } from './findings.ts';
import type { Handlers } from './handlers.ts';
import { journal, journalOnly } from './journal.ts';

type T = typeof Topic.agentHealth;
type Of<K extends EventOf<T>['type']> = Extract<PlacedEvent<T>, { readonly type: K }>;

export const agentHealth: Handlers<T> = {
  HEALTH_STATE_CHANGED: (event) => [journal(event), state(event)],
  EXEMPTION_CHANGED: (event) => [journal(event), exemption(event)],
  WAIT_OVERDUE: (event) => [journal(event)],
  WAIT_ENDED: (event) => [journal(event)],
  INSTANCE_STARTED: (event) => [journal(event), instance(event)],
  WARRANT_FILED: (event) => [journal(event), openWarrant(event)],
  // Emitted every minute: not a line of the story.
  WARRANT_RENEWED: (event) => [openWarrant(event)],
  WARRANT_LAPSED: (event) => [journal(event), lapsedWarrant(event)],
  DUPLICATE_INSTANCE: (event) => [journal(event), duplicate(event)],
  AGENT_ANSWERED: journalOnly,
  BREAKER_RESET_ASKED: journalOnly,
  CIRCUIT_BREAKER_STATE_CHANGED: (event) => [
    journal(event),
    ...breaker(event, event.payload.agentId, event.payload.agentId),
  ],
  WORKER_ESCALATION_TICKET: (event) => [journal(event), filed(event)],
};

function state(event: Of<'HEALTH_STATE_CHANGED'>): Statement {
  const { payload } = event;
  return {
    kind: 'register',
    table: 'agents',
    key: { agent_id: payload.agentId },
    group: 'state',
    order: orderOf(event),
    columns: {
      state: payload.to,
      state_from: payload.from,
      state_since: instant(event.occurredAt),
      state_reason: payload.reason,
      state_onset_at: instant(payload.onsetAt),
      state_evidence: payload.evidence,
      state_instance_id: payload.instanceId,
      state_task_id: payload.taskId,
      state_runtime_id: payload.runtimeId,
      state_labels: payload.labels,
      state_attempt: payload.attempt,
      state_max_attempts: payload.maxAttempts,
      episode_id: payload.episodeId,
      end_reason: payload.endReason,
      policy_name: event.policy?.name ?? null,
      policy_hash: event.policy?.hash ?? null,
    },
  };
}

function exemption(event: Of<'EXEMPTION_CHANGED'>): Statement {
  const { payload } = event;
  return {
    kind: 'register',
    table: 'agents',
    key: { agent_id: payload.agentId },
    group: 'exemption',
    order: orderOf(event),
    columns: {
      exemption: payload.to,
      exemption_suspends: payload.suspends,
      exemption_until: instant(payload.until),
      exemption_since: instant(event.occurredAt),
    },
  };
}

function instance(event: Of<'INSTANCE_STARTED'>): Statement {
  const { payload } = event;
  return {
    kind: 'register',
    table: 'agents',
    key: { agent_id: payload.agentId },
    group: 'instance',
    order: orderOf(event),
    columns: {
      instance_id: payload.instanceId,
      instance_previous_id: payload.previousInstanceId,
      instance_since: instant(event.occurredAt),
      instance_task_id: payload.taskId,
      instance_runtime_id: payload.runtimeId,
      instance_policy_name: event.policy?.name ?? null,
      instance_policy_hash: event.policy?.hash ?? null,
    },
  };
}

type Warrant = PayloadOf<T, 'WARRANT_RENEWED'>;

function warrant(
  event: Of<'WARRANT_FILED' | 'WARRANT_RENEWED' | 'WARRANT_LAPSED'>,
  found: Partial<Warrant>,
): Statement {
  return {
    kind: 'register',
    table: 'agents',
    key: { agent_id: event.payload.agentId },
    group: 'warrant',
    order: orderOf(event),
    columns: {
      warrant_id: event.payload.warrantId,
      warrant_open: event.type !== 'WARRANT_LAPSED',
      warrant_at: instant(event.occurredAt),
      warrant_plan: found.planName ?? null,
      warrant_axes: found.axes ?? [],
      warrant_lapsed_why: event.type === 'WARRANT_LAPSED' ? event.payload.why : null,
    },
  };
}

const openWarrant = (event: Of<'WARRANT_FILED' | 'WARRANT_RENEWED'>): Statement => warrant(event, event.payload);
const lapsedWarrant = (event: Of<'WARRANT_LAPSED'>): Statement => warrant(event, {});

function duplicate(event: Of<'DUPLICATE_INSTANCE'>): Statement {
  const { payload } = event;
  return {
    kind: 'register',
    table: 'agents',
    key: { agent_id: payload.agentId },
    group: 'duplicate',
    order: orderOf(event),
    columns: {
      duplicate_instance_id: payload.instanceId,
      duplicate_other_id: payload.otherInstanceId,
      duplicate_count: payload.count,
      duplicate_at: instant(event.occurredAt),
    },
  };
}
