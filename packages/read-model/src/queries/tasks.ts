import type { CheckpointRef, HealthState } from '@vigil/events';
import type { Sql } from '../apply.ts';
import {
  afterPlace,
  column,
  type Filter,
  list,
  listed,
  MOST_ROWS,
  newestFirst,
  type OfAgent,
  type Order,
  orderBy,
  type Paged,
  type RowOf,
  type Span,
  select,
  when,
  where,
  whereAgentIs,
  within,
} from './select.ts';

const task = {
  taskId: column<string>('coalesce(h.task_id, t.task_id, b.task_id)'),
  agentId: column<string | null>(),
  state: column<HealthState | null>(),
  hold: column<string | null>(),
  attempt: column<number | null>(),
  endReason: column<string | null>(),
  /** the last of task-recovery's events, such as REVIEW_REQUIRED */
  recovery: column<string | null>(),
  recoveryAt: column<number | null>(),
  recoveryReason: column<string | null>(),
  /** why it is blocked, beside any recovery; null: it is not */
  blockedReason: column<string | null>(),
  blockedAt: column<number | null>(),
  /** the alert whose acknowledgement its block waits for; null: for none */
  blockedAlertId: column<string | null>(),
  checkpoints: column<number>('coalesce(c.checkpoints, 0)'),
  lastCheckpoint: column<string | null>(),
};
export type TaskRow = RowOf<typeof task>;

// Several agents may have held a task; the present assignee is the one that took it last and has not left.
const TASKS = `
WITH assignee AS (
  SELECT DISTINCT ON (task_id) * FROM task_assignees
  ORDER BY task_id, (hold IS DISTINCT FROM 'left') DESC, assignee_at DESC, coalesce(attempt, 0) DESC, agent_id
), blocked AS (
  SELECT DISTINCT ON (1) coalesce(task_id, agent_id) AS task_id, coalesce(text, 'no reason is reported') AS blocked_reason,
         raised_at AS blocked_at, CASE WHEN acknowledged_at IS NULL THEN alert_id END AS blocked_alert_id
  FROM alerts WHERE route = 'task_blocked' AND resolved_order IS NULL AND coalesce(task_id, agent_id) IS NOT NULL
  ORDER BY 1, acknowledged_at IS NOT NULL, raised_at DESC
)
SELECT ${listed(task)}
FROM assignee h FULL JOIN tasks t ON t.task_id = h.task_id
FULL JOIN blocked b ON b.task_id = coalesce(h.task_id, t.task_id)
LEFT JOIN LATERAL (
  SELECT count(*)::integer AS checkpoints,
         (array_agg(checkpoint_id ORDER BY written_at DESC, recorded_at DESC, checkpoint_id DESC))[1] AS last_checkpoint
  FROM dated_checkpoints d WHERE d.task_id = coalesce(h.task_id, t.task_id, b.task_id)
) c ON true
`;

/** [its id] */
export const TASK_ORDER: Order<TaskRow> = [
  ['coalesce(h.task_id, t.task_id, b.task_id)', 'text', ({ taskId }) => taskId],
];

type TaskFilter = Filter<
  { taskId: string; agentId: string; review: boolean; state: HealthState } & OfAgent & Span & Paged
>;

/**
 * Tasks by name, all of them without a limit. `review`: only those that wait for a person, as `waitsForPerson` has it.
 * `agentId`: the present assignee; state, host, policy and labels are its own. The time is that of the last change of
 * the recovery, or of the block.
 */
export const tasks = (sql: Sql, filter: TaskFilter): Promise<readonly TaskRow[]> => {
  const { text, values } = where([
    when('coalesce(h.task_id, t.task_id, b.task_id) = $?', filter.taskId),
    when('h.agent_id = $?', filter.agentId),
    when('h.state = $?', filter.state),
    ...whereAgentIs('h.agent_id', filter),
    // An agent without a task has an entry under its own id, which is a task only while people have to see it.
    filter.taskId === undefined
      ? [
          `(h.task_id IS DISTINCT FROM h.agent_id OR t.recovery IS NOT NULL OR c.last_checkpoint IS NOT NULL
            OR b.task_id IS NOT NULL)`,
        ]
      : null,
    filter.review === true ? [`(t.recovery = 'REVIEW_REQUIRED' OR b.blocked_alert_id IS NOT NULL)`] : null,
    ...within('greatest(t.recovery_at, b.blocked_at)', filter),
    afterPlace(TASK_ORDER, filter.after),
  ]);
  const limit = `LIMIT $${values.length + 1}`;
  return select<TaskRow>(sql, `${TASKS} ${text} ORDER BY ${orderBy(TASK_ORDER)} ${limit}`, [
    ...values,
    filter.limit ?? null,
  ]);
};

const recovery = {
  taskId: column<string>(),
  attempt: column<number>(),
  maxAttempts: column<number>(),
  fromCheckpoint: column<string>(),
  newAgentId: column<string>(),
  deadAgentId: column<string | null>(),
  orderId: column<string>(),
  runtimeId: column<string>(),
  skipped: column<readonly { readonly checkpointId: string; readonly why: string }[]>(),
  initiatedAt: column<number>(),
  completedAt: column<number | null>(),
  probationPassedAt: column<number | null>(),
  failedAt: column<number | null>(),
  failedReason: column<string | null>(),
  reviewAt: column<number | null>(),
  releasedAt: column<number | null>(),
  releasedWhy: column<string | null>(),
  /** how its agent has ended; null without a reported end */
  endReason: column<string | null>('h.end_reason'),
};
export type RecoveryRow = RowOf<typeof recovery>;

/** An attempt with an invalid checkpoint is repeated under the same number, so only the last one counts. */
const LAST_OF_ITS_ATTEMPT = `NOT EXISTS (
  SELECT 1 FROM journal again WHERE again.task_id = recoveries.task_id AND again.type = 'RECOVERY_INITIATED'
    AND again.event_order > recoveries.event_order AND (again.payload ->> 'attempt')::integer = recoveries.attempt
    AND again.payload ->> 'newAgentId' = recoveries.new_agent_id)`;

/** [minus its time, its task, minus its attempt, its agent] */
export const RECOVERY_ORDER: Order<RecoveryRow> = [
  newestFirst('initiated_at', ({ initiatedAt }) => initiatedAt),
  ['task_id', 'text', ({ taskId }) => taskId],
  ['-attempt', 'bigint', ({ attempt }) => -attempt],
  ['new_agent_id', 'text', ({ newAgentId }) => newAgentId],
];

/** Attempts, newest first. */
export const recoveries = (
  sql: Sql,
  filter: Filter<{ taskId: string } & Span & Paged>,
): Promise<readonly RecoveryRow[]> => {
  const from = `recoveries LEFT JOIN LATERAL (
    SELECT end_reason FROM task_assignees o WHERE o.task_id = recoveries.task_id AND o.agent_id = new_agent_id
  ) h ON true`;
  const conditions = [
    when('task_id = $?', filter.taskId),
    [LAST_OF_ITS_ATTEMPT] as const,
    ...within('initiated_at', filter),
    afterPlace(RECOVERY_ORDER, filter.after),
  ];
  return list(sql, recovery, from, conditions, orderBy(RECOVERY_ORDER), filter.limit ?? MOST_ROWS);
};

const checkpoint = {
  taskId: column<string>(),
  checkpointId: column<CheckpointRef['checkpointId']>(),
  agentId: column<string>(),
  parentId: column<CheckpointRef['parentId']>(),
  uri: column<CheckpointRef['uri']>(),
  sha256: column<CheckpointRef['sha256']>(),
  valid: column<CheckpointRef['valid']>(),
  invalidReason: column<CheckpointRef['invalidReason']>(),
  /** as its agent reports it, by the clock of that agent */
  createdAt: column<number | null>(),
  /** the same on the brokers' clock; when it was first reported, where its agent reports no time */
  writtenAt: column<number>(),
  /** its last record */
  recordedAt: column<number>(),
  completedWork: column<CheckpointRef['completedWork']>(),
  remainingWork: column<CheckpointRef['remainingWork']>(),
};
export type CheckpointRow = RowOf<typeof checkpoint>;

/** A task's checkpoints, the last written first. */
export const checkpoints = (sql: Sql, taskId: string): Promise<readonly CheckpointRow[]> => {
  const newest = 'ORDER BY written_at DESC, recorded_at DESC, checkpoint_id DESC';
  return select<CheckpointRow>(
    sql,
    `SELECT ${listed(checkpoint)} FROM dated_checkpoints WHERE task_id = $1 ${newest}`,
    [taskId],
  );
};
