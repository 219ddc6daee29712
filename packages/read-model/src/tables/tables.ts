import { agents } from './agents-table.ts';
import { breakers, tickets } from './finding-tables.ts';

/**
 * The tables that the projector may write, as data. A fact table has a row an event, inserted once. A register table
 * has a row a thing; each of its column groups is written whole, and only by a greater order. Migrations state the same
 * in SQL, and a test compares them.
 */
export const facts = {
  journal: {
    key: ['event_id'],
    columns: [
      'topic',
      'type',
      'agent_id',
      'instance_id',
      'task_id',
      'episode_id',
      'case_id',
      'occurred_at',
      'event_order',
      'correlation_id',
      'policy_name',
      'policy_hash',
      'payload',
    ],
  },
  orders: {
    key: ['order_id'],
    columns: [
      'kind',
      'agent_id',
      'instance_id',
      'runtime_id',
      'case_id',
      'task_id',
      'number',
      'ttl_ms',
      'issued_at',
      'details',
    ],
  },
  deliveries: {
    key: ['event_id'],
    columns: ['alert_id', 'of_event_id', 'sink', 'attempt', 'ok', 'detail', 'occurred_at'],
  },
  policies: {
    key: ['name', 'hash', 'published_at'],
    columns: ['document', 'published_by', 'origin', 'why', 'withdrawn'],
  },
  policy_refusals: {
    // Each instance of the evaluator refuses for itself: what one command met, more than once.
    key: ['refusal_id', 'refused_at'],
    columns: ['command_id', 'name', 'hash', 'refused_by', 'why', 'mistakes'],
  },
  dead_letters: {
    key: ['event_id'],
    columns: [
      'service',
      'original_topic',
      'original_partition',
      'original_offset',
      'original_key',
      'original_value',
      'truncated',
      'original_at',
      'reason',
      'error_type',
      'failed_at',
      'retry_count',
      'correlation_id',
    ],
  },
} as const;

const cases = {
  key: ['case_id'],
  groups: {
    opened: [
      'agent_id',
      'instance_id',
      'task_id',
      'episode_id',
      'labels',
      'warrant_id',
      'requested_by',
      'state',
      'axes',
      'plan_name',
      'plan',
      'runtime_id',
      'evidence',
      'note',
      'opened_at',
      'policy_name',
      'policy_hash',
    ],
    step: ['step', 'step_at'],
    withheld: ['withheld_step', 'withheld_why', 'withheld_detail'],
    escalation: [
      'escalation_at',
      'escalation_reason',
      'escalation_options',
      'escalation_deadline_at',
      'escalation_on_timeout',
    ],
    decision: ['decision', 'decision_by', 'decision_why', 'decision_at'],
    closed: ['closed_at', 'ending', 'closed_why'],
  },
} as const;

const alerts = {
  key: ['alert_id'],
  groups: {
    content: [
      'alert_key',
      'route',
      'severity',
      'title',
      'text',
      'agent_id',
      'task_id',
      'episode_id',
      'case_id',
      'labels',
      'options',
      'deadline_at',
      'updated_at',
    ],
    raised: ['raised_at'],
    ack: ['acknowledged_at', 'acknowledged_by'],
    resolved: ['resolved_at'],
  },
} as const;

export const registers = {
  agents,
  cases,
  alerts,
  task_holders: {
    key: ['task_id', 'agent_id'],
    groups: {
      holder: ['instance_id', 'attempt', 'hold', 'state', 'end_reason', 'ordered', 'runtime_id', 'holder_at'],
    },
  },
  breakers,
  tickets,
  tasks: {
    key: ['task_id'],
    groups: { recovery: ['recovery', 'recovery_at', 'recovery_attempt', 'recovery_agent_id', 'recovery_reason'] },
  },
  checkpoints: {
    key: ['task_id', 'checkpoint_id'],
    groups: {
      checkpoint: [
        'agent_id',
        'instance_id',
        'attempt',
        'parent_id',
        'uri',
        'sha256',
        'valid',
        'invalid_reason',
        'created_at',
        'recorded_at',
        'completed_work',
        'remaining_work',
      ],
    },
  },
  receipts: {
    key: ['order_id', 'outcome', 'at'],
    groups: { receipt: ['runtime_id', 'why', 'recorded_at', 'details'] },
  },
  runtimes: {
    key: ['runtime_id'],
    groups: { runtime: ['host', 'capacity', 'agents', 'labels', 'announced_at'] },
  },
  fleet: {
    key: ['fleet_id'],
    groups: {
      halt: ['halted', 'halt_by', 'halt_why', 'halt_at'],
      brake: ['braked', 'brake_scope', 'brake_agents', 'brake_by', 'brake_why', 'brake_at'],
      dry_run: ['dry_run', 'dry_run_by', 'dry_run_why', 'dry_run_at'],
    },
  },
} as const;

export type FactTable = keyof typeof facts;
export type RegisterTable = keyof typeof registers;
export type Group<T extends RegisterTable> = keyof (typeof registers)[T]['groups'] & string;
