import type { Sql } from '../apply.ts';
import type { CheckpointRow, RecoveryRow, TaskRow } from '../rows/fleet-rows.ts';
import { select, when, where } from './select.ts';

export type TaskFilter = {
  readonly taskId?: string | undefined;
  /** only those that wait for a person */
  readonly review?: boolean | undefined;
};

// Several agents may have held a task; the present assignee is the one that took it last and has not left.
const TASKS = `
WITH holder AS (
  SELECT DISTINCT ON (task_id) * FROM task_holders
  ORDER BY task_id, (hold IS DISTINCT FROM 'left') DESC, holder_at DESC, coalesce(attempt, 0) DESC, agent_id
)
SELECT coalesce(h.task_id, t.task_id) AS task_id, h.agent_id, h.state, h.hold, h.attempt, h.end_reason,
       t.recovery, t.recovery_at, t.recovery_reason, coalesce(c.checkpoints, 0) AS checkpoints, c.last_checkpoint
FROM holder h FULL JOIN tasks t ON t.task_id = h.task_id
LEFT JOIN LATERAL (
  SELECT count(*)::integer AS checkpoints,
         (array_agg(checkpoint_id ORDER BY recorded_at DESC, checkpoint_id DESC))[1] AS last_checkpoint
  FROM checkpoints WHERE checkpoints.task_id = coalesce(h.task_id, t.task_id)
) c ON true
`;

/** Tasks by name. */
export function tasks(sql: Sql, filter: TaskFilter): Promise<readonly TaskRow[]> {
  const { text, values } = where([
    when('coalesce(h.task_id, t.task_id) = $?', filter.taskId),
    // An agent without a task holds one of its own name: that is not a task.
    filter.taskId === undefined
      ? ['(h.task_id IS DISTINCT FROM h.agent_id OR t.recovery IS NOT NULL OR c.last_checkpoint IS NOT NULL)']
      : null,
    filter.review === true ? [`t.recovery = 'REVIEW_REQUIRED'`] : null,
  ]);
  return select<TaskRow>(sql, `${TASKS} ${text} ORDER BY 1 LIMIT 10000`, values);
}

export type RecoveryFilter = { readonly taskId?: string | undefined };

/** An attempt whose checkpoint turned out to be invalid is repeated under the same number: only the last counts. */
const LAST_OF_ITS_ATTEMPT = `NOT EXISTS (
  SELECT 1 FROM journal again WHERE again.task_id = recoveries.task_id AND again.type = 'RECOVERY_INITIATED'
    AND again.event_order > recoveries.event_order AND (again.payload ->> 'attempt')::integer = recoveries.attempt
    AND again.payload ->> 'newAgentId' = recoveries.new_agent_id)`;

/** Attempts, newest first. */
export function recoveries(sql: Sql, filter: RecoveryFilter): Promise<readonly RecoveryRow[]> {
  const { text, values } = where([when('task_id = $?', filter.taskId), [LAST_OF_ITS_ATTEMPT]]);
  return select<RecoveryRow>(
    sql,
    `SELECT task_id, attempt, max_attempts, from_checkpoint, new_agent_id, dead_agent_id, order_id,
       runtime_id, skipped, initiated_at, completed_at, probation_passed_at, failed_at, failed_reason, review_at,
       released_at, released_why, h.end_reason
     FROM recoveries LEFT JOIN LATERAL (
       SELECT end_reason FROM task_holders o WHERE o.task_id = recoveries.task_id AND o.agent_id = new_agent_id
     ) h ON true
     ${text} ORDER BY initiated_at DESC, task_id, attempt DESC LIMIT 1000`,
    values,
  );
}

/** A task's checkpoints, newest first. */
export function checkpoints(sql: Sql, taskId: string): Promise<readonly CheckpointRow[]> {
  return select<CheckpointRow>(
    sql,
    `SELECT task_id, checkpoint_id, agent_id, parent_id, uri, sha256, valid, invalid_reason, created_at, recorded_at,
       completed_work, remaining_work
     FROM checkpoints WHERE task_id = $1 ORDER BY recorded_at DESC, checkpoint_id DESC`,
    [taskId],
  );
}
