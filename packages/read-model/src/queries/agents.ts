import type { HealthState } from '@vigil/events';
import type { Sql } from '../apply.ts';
import type { AgentRow } from '../rows/rows.ts';
import { WITHHELD } from './cases.ts';
import { select, when, where } from './select.ts';

export type AgentFilter = {
  readonly agentId?: string | undefined;
  readonly state?: HealthState | undefined;
  readonly taskId?: string | undefined;
  /** everything that is not HEALTHY, finished ones excluded */
  readonly unhealthy?: boolean | undefined;
  /** those that wait for a person, the longest wait first */
  readonly waiting?: boolean | undefined;
};

// An instance that began after the last state is healthy until judged; a heartbeat counts where it is of the present
// instance.
const AGENTS = `
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
)
SELECT j.agent_id, current_state AS state, state_from, current_instance AS instance_id, instance_since,
       CASE WHEN fresh THEN instance_since ELSE coalesce(state_since, presence_since, heartbeat_at) END AS since,
       CASE WHEN fresh THEN NULL ELSE state_reason END AS reason,
       CASE WHEN fresh THEN NULL ELSE state_onset_at END AS onset_at,
       CASE WHEN fresh THEN '[]' ELSE coalesce(state_evidence, '[]') END AS evidence,
       CASE WHEN fresh THEN NULL ELSE end_reason END AS end_reason,
       CASE WHEN current_state = 'TERMINATED' THEN NULL ELSE exemption END AS exemption,
       coalesce(exemption_suspends, '[]') AS exemption_suspends, exemption_since, exemption_until, j.episode_id,
       CASE WHEN is_current THEN heartbeat_task_id WHEN fresh THEN instance_task_id ELSE state_task_id END AS task_id,
       CASE WHEN is_current THEN heartbeat_runtime_id WHEN fresh THEN instance_runtime_id ELSE state_runtime_id END AS runtime_id,
       coalesce(heartbeat_labels, state_labels, '{}') AS labels, state_attempt AS attempt, state_max_attempts AS max_attempts,
       CASE WHEN fresh OR state_order IS NULL THEN instance_policy_name ELSE j.policy_name END AS policy_name,
       CASE WHEN fresh OR state_order IS NULL THEN instance_policy_hash ELSE j.policy_hash END AS policy_hash, present, presence_since, host, model,
       j.warrant_id, warrant_open, warrant_plan, warrant_lapsed_why,
       heartbeat_at AS last_heartbeat_at, heartbeat_phase AS phase, heartbeat_progress AS progress, heartbeat_activity AS activity,
       heartbeat_tokens AS tokens, heartbeat_errors AS error_count, heartbeat_ingress AS ingress, heartbeat_interval_ms AS interval_ms,
       CASE WHEN is_current AND current_state <> 'TERMINATED' THEN heartbeat_waiting_for END AS waiting_for,
       CASE WHEN is_current THEN heartbeat_client END AS client,
       output_last_at AS last_output_at, coalesce(output_tail, '[]') AS tail,
       CASE WHEN errors_instance_id IS NOT DISTINCT FROM current_instance THEN coalesce(errors, '[]') ELSE '[]' END AS errors,
       exit_at, exit_code, exit_signal, exit_reason, exit_details, coalesce(exit_last_output, '[]') AS exit_last_output,
       coalesce(held, false) AS held, held_until, held_by, held_why,
       duplicate_other_id AS duplicate_of, duplicate_count, duplicate_at,
       c.case_id, coalesce(c.step = 'ESCALATION_TRIGGERED', false) AS case_waiting, c.withheld AS case_withheld
FROM judged j
LEFT JOIN LATERAL (
  SELECT case_id, step, ${WITHHELD('cases')} AS withheld FROM cases
  WHERE cases.agent_id = j.agent_id AND opened_order IS NOT NULL AND closed_order IS NULL
  ORDER BY opened_order DESC LIMIT 1
) c ON true
`;

const UNHEALTHY = `current_state <> 'HEALTHY' AND NOT (current_state = 'TERMINATED' AND end_reason IS NOT DISTINCT FROM 'finished')`;

const WAITING = `current_state <> 'TERMINATED' AND exemption IS NOT DISTINCT FROM 'awaiting_input'`;

/** Agents by name; those that wait for a person by the length of the wait. */
export function agents(sql: Sql, filter: AgentFilter): Promise<readonly AgentRow[]> {
  const { text, values } = where([
    when('j.agent_id = $?', filter.agentId),
    when('current_state = $?', filter.state),
    when('CASE WHEN is_current THEN heartbeat_task_id ELSE state_task_id END = $?', filter.taskId),
    filter.unhealthy === true ? [UNHEALTHY] : null,
    filter.waiting === true ? [WAITING] : null,
  ]);
  return select<AgentRow>(
    sql,
    `${AGENTS} ${text} ORDER BY ${filter.waiting === true ? 'exemption_since, ' : ''}j.agent_id`,
    values,
  );
}
