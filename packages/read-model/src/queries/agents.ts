import type { Evidence, HealthState, WaitingFor } from '@vigil/events';
import type { Sql } from '../apply.ts';
import { WITHHELD, type Withheld } from './cases.ts';
import { column, type Filter, listed, type RowOf, select, when, where } from './select.ts';

export type ReportedError = {
  readonly at: number;
  readonly count: number;
  readonly errorClass: string | null;
  readonly message: string | null;
};

/** A person requested the end of the agent and nothing else: no restart, and no recovery of its task. */
const ENDS_BY_HAND = `requested_by IS NOT NULL AND NOT plan @> '[{"step":"recover"}]'
  AND NOT coalesce((orders.details ->> 'restart')::boolean, false)`;

/**
 * A person should look: it is alive and not HEALTHY, or has ended and nothing continues its task. Excluded are ends that a person or the
 * agent itself requested, tasks that a later agent has taken, because that one shows its own state, and tasks that are over.
 */
const UNHEALTHY = `CASE
  WHEN current_state <> 'TERMINATED' THEN current_state <> 'HEALTHY'
  WHEN end_reason IS NOT DISTINCT FROM 'finished' THEN false
  WHEN end_reason IS NOT DISTINCT FROM 'explicit' AND NOT EXISTS (
    SELECT 1 FROM orders JOIN receipts USING (order_id)
    WHERE orders.agent_id = j.agent_id AND orders.instance_id IS NOT DISTINCT FROM j.current_instance
      AND kind = 'TERMINATE_AGENT' AND outcome = 'done'
      AND NOT EXISTS (SELECT 1 FROM cases WHERE cases.case_id = orders.case_id AND ${ENDS_BY_HAND})) THEN false
  ELSE NOT EXISTS (
    SELECT 1 FROM task_assignees later
    WHERE later.task_id = j.state_task_id AND later.agent_id <> j.agent_id AND later.assignee_at > j.state_since
  ) AND NOT EXISTS (
    SELECT 1 FROM tasks
    WHERE tasks.task_id = j.state_task_id AND recovery_at >= j.state_since
      AND (recovery = 'TASK_RELEASED' OR recovery = 'REVIEW_DECIDED' AND recovery_reason IN ('abandon', 'reset'))
  ) END`;

/** The name of the policy that judges the present instance, of a row of `judged`; null: not reported yet. */
export const AGENT_POLICY: string =
  'CASE WHEN fresh OR state_order IS NULL THEN instance_policy_name ELSE policy_name END';

// An instance that began after the last state is healthy until judged; a heartbeat counts only if it is of the present
// instance.
const agent = {
  agentId: column<string>('j.agent_id'),
  state: column<HealthState>('current_state'),
  /** whether a person should look at it; an ended agent that needs nothing more is not */
  unhealthy: column<boolean>(UNHEALTHY),
  stateFrom: column<HealthState | null>(),
  instanceId: column<string | null>('current_instance'),
  instanceSince: column<number | null>(),
  since: column<number | null>(
    'CASE WHEN fresh THEN instance_since ELSE coalesce(state_since, presence_since, heartbeat_at) END',
  ),
  reason: column<string | null>('CASE WHEN fresh THEN NULL ELSE state_reason END'),
  onsetAt: column<number | null>('CASE WHEN fresh THEN NULL ELSE state_onset_at END'),
  evidence: column<readonly Evidence[]>("CASE WHEN fresh THEN '[]' ELSE coalesce(state_evidence, '[]') END"),
  endReason: column<string | null>('CASE WHEN fresh THEN NULL ELSE end_reason END'),
  exemption: column<string | null>("CASE WHEN current_state = 'TERMINATED' THEN NULL ELSE exemption END"),
  exemptionSuspends: column<readonly string[]>("coalesce(exemption_suspends, '[]')"),
  exemptionSince: column<number | null>(),
  exemptionUntil: column<number | null>(),
  episodeId: column<string | null>(),
  taskId: column<string | null>(
    'CASE WHEN is_current THEN heartbeat_task_id WHEN fresh THEN instance_task_id ELSE state_task_id END',
  ),
  runtimeId: column<string | null>(
    'CASE WHEN is_current THEN heartbeat_runtime_id WHEN fresh THEN instance_runtime_id ELSE state_runtime_id END',
  ),
  labels: column<Readonly<Record<string, string>>>("coalesce(heartbeat_labels, state_labels, '{}')"),
  attempt: column<number | null>('state_attempt'),
  maxAttempts: column<number | null>('state_max_attempts'),
  policyName: column<string | null>(AGENT_POLICY),
  policyHash: column<string | null>(
    'CASE WHEN fresh OR state_order IS NULL THEN instance_policy_hash ELSE policy_hash END',
  ),
  present: column<boolean | null>(),
  presenceSince: column<number | null>(),
  host: column<string | null>(),
  model: column<string | null>(),
  warrantId: column<string | null>(),
  warrantOpen: column<boolean | null>(),
  warrantPlan: column<string | null>(),
  warrantLapsedWhy: column<string | null>(),
  lastHeartbeatAt: column<number | null>('heartbeat_at'),
  phase: column<string | null>('heartbeat_phase'),
  progress: column<string | null>('heartbeat_progress'),
  activity: column<string | null>('heartbeat_activity'),
  tokens: column<number | null>('heartbeat_tokens'),
  errorCount: column<number | null>('heartbeat_errors'),
  /** tokens of its context, as its last heartbeat reports them; null: it does not */
  contextUsed: column<number | null>('CASE WHEN is_current THEN heartbeat_context_used END'),
  contextMax: column<number | null>('CASE WHEN is_current THEN heartbeat_context_max END'),
  ingress: column<string | null>('heartbeat_ingress'),
  intervalMs: column<number | null>('heartbeat_interval_ms'),
  /** its wait for a person, as its last heartbeat reports it; null if it does not wait, or does not report it */
  waitingFor: column<WaitingFor | null>(
    "CASE WHEN is_current AND current_state <> 'TERMINATED' THEN heartbeat_waiting_for END",
  ),
  /** whose token the gateway verified, such as `runtime host-1`; null: its heartbeats come directly from Kafka */
  verified: column<string | null>('CASE WHEN is_current THEN heartbeat_verified END'),
  /** the coding agent's client that reports its session, such as claude-code; null without one */
  client: column<string | null>('CASE WHEN is_current THEN heartbeat_client END'),
  /** the agent's own clock */
  lastOutputAt: column<number | null>('output_last_at'),
  tail: column<readonly string[]>("coalesce(output_tail, '[]')"),
  /** the last reported errors of the present instance */
  errors: column<readonly ReportedError[]>(
    "CASE WHEN errors_instance_id IS NOT DISTINCT FROM current_instance THEN coalesce(errors, '[]') ELSE '[]' END",
  ),
  /** the newest lines of its terminal that are errors by its policy or template, of the present instance; `errorClass` is error or fatal */
  terminalErrors: column<readonly ReportedError[]>(
    "CASE WHEN terminal_instance_id IS NOT DISTINCT FROM current_instance THEN coalesce(terminal_errors, '[]') ELSE '[]' END",
  ),
  exitAt: column<number | null>(),
  exitCode: column<number | null>(),
  exitSignal: column<string | null>(),
  exitReason: column<string | null>(),
  exitDetails: column<string | null>(),
  /** of the present instance: a restarted agent has none */
  exitLastOutput: column<readonly string[]>(
    `CASE WHEN exit_instance_id IS NULL OR exit_instance_id = coalesce(heartbeat_instance_id, instance_id, exit_instance_id)
          THEN coalesce(exit_last_output, '[]') ELSE '[]' END`,
  ),
  /** whether a person has held it and not released it; the hold ends at `heldUntil`, without an event */
  held: column<boolean>('coalesce(held, false)'),
  heldUntil: column<number | null>(),
  heldBy: column<string | null>(),
  heldWhy: column<string | null>(),
  duplicateOf: column<string | null>('duplicate_other_id'),
  duplicateCount: column<number | null>(),
  duplicateAt: column<number | null>(),
  /** its open case, and whether that waits for a person's decision */
  caseId: column<string | null>(),
  caseWaiting: column<boolean>("coalesce(step = 'ESCALATION_TRIGGERED', false)"),
  caseWithheld: column<Withheld | null>('withheld'),
};

/** Instants are epoch milliseconds, on the broker's clock unless a comment states another. */
export type AgentRow = RowOf<typeof agent>;

/** The table `judged`: agents with their present state and instance. */
export const KNOWN_AGENTS: string = `
WITH known AS (
  SELECT a.*, coalesce(instance_order > coalesce(state_order, ''), false) AS fresh,
         coalesce(instance_id, state_instance_id) AS current_instance
  FROM agents a
), judged AS (
  SELECT k.*,
         CASE WHEN fresh THEN 'HEALTHY' WHEN state IS NOT NULL THEN state
              WHEN presence_order IS NOT NULL THEN 'HEALTHY' ELSE 'UNKNOWN' END AS current_state,
         heartbeat_order IS NOT NULL AND heartbeat_instance_id IS NOT DISTINCT FROM current_instance AS is_current
  FROM known k
)`;

const FROM_AGENTS = `
FROM judged j
LEFT JOIN LATERAL (
  SELECT case_id, step, ${WITHHELD} AS withheld FROM cases
  WHERE cases.agent_id = j.agent_id AND opened_order IS NOT NULL AND closed_order IS NULL
  ORDER BY opened_order DESC LIMIT 1
) c ON true
`;

const WAITING = `current_state <> 'TERMINATED' AND exemption IS NOT DISTINCT FROM 'awaiting_input'`;

/**
 * Agents by name, or by the length of their wait for a person. `unhealthy`: agents that a person should
 * look at.
 */
export const agents = (
  sql: Sql,
  filter: Filter<{ agentId: string; state: HealthState; taskId: string; unhealthy: boolean; waiting: boolean }>,
): Promise<readonly AgentRow[]> => {
  const { text, values } = where([
    when('j.agent_id = $?', filter.agentId),
    when('current_state = $?', filter.state),
    when('CASE WHEN is_current THEN heartbeat_task_id ELSE state_task_id END = $?', filter.taskId),
    filter.unhealthy === true ? [UNHEALTHY] : null,
    filter.waiting === true ? [WAITING] : null,
  ]);
  const order = `ORDER BY ${filter.waiting === true ? 'exemption_since, ' : ''}j.agent_id`;
  return select<AgentRow>(sql, `${KNOWN_AGENTS} SELECT ${listed(agent)} ${FROM_AGENTS} ${text} ${order}`, values);
};

const cell = {
  agentId: column<string>('j.agent_id'),
  state: agent.state,
  exemption: agent.exemption,
  since: agent.since,
  taskId: agent.taskId,
  policyName: agent.policyName,
  labels: agent.labels,
  host: agent.host,
  unhealthy: agent.unhealthy,
  waiting: column<boolean>(
    `coalesce(c.step = 'ESCALATION_TRIGGERED' OR (${WAITING} AND is_current AND heartbeat_waiting_for ->> 'kind' IN ('permission', 'question')), false)`,
  ),
  held: agent.held,
};
/** What a view of the whole fleet needs of an agent. `waiting`: for the answer of a person. An idle prompt waits for none. */
export type CellRow = RowOf<typeof cell>;

/** All agents by name. */
export const cells = (sql: Sql): Promise<readonly CellRow[]> =>
  select<CellRow>(sql, `${KNOWN_AGENTS} SELECT ${listed(cell)} ${FROM_AGENTS} ORDER BY j.agent_id`);
