import type { PlanStep, Topic } from '@vigil/events';
import { instant, orderOf, type Statement } from '@vigil/read-model';
import type { PlacedEvent } from '@vigil/stream';
import type { Handlers } from './handlers.ts';
import { journal, journalOnly } from './journal.ts';

type T = typeof Topic.agentIntervention;
type Event = PlacedEvent<T>;
type Of<K extends Event['type']> = Extract<Event, { readonly type: K }>;

const stepped = (event: Event): readonly Statement[] => [journal(event), step(event)];

export const agentIntervention: Handlers<T> = {
  CASE_OPENED: (event) => [...stepped(event), opened(event)],
  CASE_CLOSED: (event) => [journal(event), closed(event)],
  ESCALATION_TRIGGERED: (event) => [...stepped(event), escalation(event)],
  ESCALATION_DECIDED: (event) => [...stepped(event), decision(event)],
  NUDGE_SENT: stepped,
  HANDOFF_REQUESTED: stepped,
  AGENT_PAUSED: stepped,
  AGENT_RESUMED: stepped,
  AGENT_TERMINATED: stepped,
  TERMINATION_UNCONFIRMED: stepped,
  STEP_SKIPPED: stepped,
  CASE_WITHHELD: (event) => [...stepped(event), withheld(event)],
  CASE_RESUMED: stepped,
  TASK_BLOCKED: stepped,
  // Neither event moves the case: it still waits.
  ALERT_REQUESTED: journalOnly,
  DECISION_REFUSED: journalOnly,
  DECISION_LAPSED: journalOnly,
};

function step(event: Event): Statement {
  return {
    kind: 'register',
    table: 'cases',
    key: { case_id: event.payload.caseId },
    group: 'step',
    order: orderOf(event),
    columns: { step: event.type, step_at: instant(event.occurredAt) },
  };
}

/** A step with its settings beside its name, without the empty fields of other steps. */
function stepShown({ step, ...settings }: PlanStep): object {
  return Object.assign({ step }, ...Object.values(settings));
}

function opened(event: Of<'CASE_OPENED'>): Statement {
  const { payload } = event;
  return {
    kind: 'register',
    table: 'cases',
    key: { case_id: payload.caseId },
    group: 'opened',
    order: orderOf(event),
    columns: {
      agent_id: payload.agentId,
      instance_id: payload.instanceId,
      task_id: payload.taskId,
      episode_id: payload.episodeId,
      labels: payload.labels,
      warrant_id: payload.warrantId,
      requested_by: payload.requestedBy,
      state: payload.state,
      axes: payload.axes,
      plan_name: payload.planName,
      plan: payload.plan.map(stepShown),
      runtime_id: payload.runtimeId,
      evidence: payload.evidence,
      note: payload.note,
      opened_at: instant(event.occurredAt),
      policy_name: event.policy?.name ?? null,
      policy_hash: event.policy?.hash ?? null,
    },
  };
}

function withheld(event: Of<'CASE_WITHHELD'>): Statement {
  const { step, why, detail } = event.payload;
  return {
    kind: 'register',
    table: 'cases',
    key: { case_id: event.payload.caseId },
    group: 'withheld',
    order: orderOf(event),
    columns: { withheld_step: step, withheld_why: why, withheld_detail: detail },
  };
}

function closed(event: Of<'CASE_CLOSED'>): Statement {
  const { payload } = event;
  return {
    kind: 'register',
    table: 'cases',
    key: { case_id: payload.caseId },
    group: 'closed',
    order: orderOf(event),
    columns: { closed_at: instant(event.occurredAt), ending: payload.ending, closed_why: payload.why },
  };
}

function escalation(event: Of<'ESCALATION_TRIGGERED'>): Statement {
  const { payload } = event;
  return {
    kind: 'register',
    table: 'cases',
    key: { case_id: payload.caseId },
    group: 'escalation',
    order: orderOf(event),
    columns: {
      escalation_at: instant(event.occurredAt),
      escalation_reason: payload.reason,
      escalation_options: payload.options,
      escalation_deadline_at: instant(payload.deadlineAt),
      escalation_on_timeout: payload.onTimeout,
    },
  };
}

function decision(event: Of<'ESCALATION_DECIDED'>): Statement {
  const { payload } = event;
  return {
    kind: 'register',
    table: 'cases',
    key: { case_id: payload.caseId },
    group: 'decision',
    order: orderOf(event),
    columns: {
      decision: payload.decision,
      decision_by: payload.by,
      decision_why: payload.why,
      decision_at: instant(event.occurredAt),
    },
  };
}
