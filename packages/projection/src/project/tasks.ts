import type { Topic } from '@vigil/events';
import { fact, instant, register, type Statement } from '@vigil/read-model';
import type { PlacedEvent } from '@vigil/stream';
import { type Handlers, journal, journalOnly, type Placed } from './handlers.ts';

/** Each assignee has its own row: the evaluator's events about two agents have no common order. */
export const taskHealth: Handlers<typeof Topic.taskHealth> = {
  TASK_HEALTH_CHANGED: (event) => [
    register(event, 'task_assignees', 'assignee', {
      ...event.payload,
      state: event.payload.to,
      assigneeAt: event.occurredAt,
    }),
  ],
};

export const taskCheckpoint: Handlers<typeof Topic.taskCheckpoint> = {
  CHECKPOINT_RECORDED: (event) => [
    fact('checkpoint_reports', {
      ...event.payload,
      ...event.payload.checkpoint,
      createdAt: createdAtOf(event),
      writtenAt: writtenAtOf(event),
    }),
    register(event, 'checkpoints', 'checkpoint', {
      ...event.payload,
      ...event.payload.checkpoint,
      recordedAt: event.occurredAt,
    }),
  ],
};

type Recorded = Placed<typeof Topic.taskCheckpoint, 'CHECKPOINT_RECORDED'>;

/** A time outside the calendar is unknown, as in the row of the checkpoint. */
const createdAtOf = ({ payload }: Recorded): number => {
  const { createdAt } = payload.checkpoint;
  return createdAt === null || instant(createdAt) === null ? 0 : createdAt;
};

/** An older version recorded no time on the brokers' clock. */
const writtenAtOf = (event: Recorded): number => {
  const createdAt = createdAtOf(event);
  if (createdAt === 0) return event.occurredAt;
  return event.payload.writtenAt ?? Math.min(createdAt, event.occurredAt);
};

type T = typeof Topic.taskRecovery;
type Figures = { readonly attempt?: number; readonly agentId?: string | null; readonly reason?: string };

export const taskRecovery: Handlers<T> = {
  RECOVERY_INITIATED: (event) => recovery(event, { ...of(event), agentId: event.payload.newAgentId }),
  RECOVERY_COMPLETED: (event) => recovery(event, { ...of(event), agentId: event.payload.newAgentId }),
  RECOVERY_FAILED: (event) => recovery(event, { ...because(event), attempt: event.payload.attempts }),
  PROBATION_PASSED: (event) => recovery(event, { ...of(event), agentId: event.payload.agentId }),
  REVIEW_REQUIRED: (event) =>
    recovery(event, { ...because(event), attempt: event.payload.attempts, agentId: event.payload.agentId }),
  REVIEW_DECIDED: (event) => recovery(event, { reason: event.payload.decision }),
  RECOVERY_WAITING: (event) => recovery(event, because(event)),
  RECOVERY_REFUSED: journalOnly,
  SPAWN_IMPOSSIBLE: (event) => recovery(event, because(event)),
  TASK_RELEASED: (event) => recovery(event, { reason: event.payload.why }),
  CIRCUIT_BREAKER_STATE_CHANGED: (event) => [journal(event), ...breaker(event, event.payload.taskId, null)],
};

const of = (event: { payload: { attempt: number } }) => ({ attempt: event.payload.attempt });
const because = (event: { payload: { reason: string } }) => ({ reason: event.payload.reason });

const recovery = (
  event: Exclude<PlacedEvent<T>, Placed<T, 'CIRCUIT_BREAKER_STATE_CHANGED' | 'RECOVERY_REFUSED'>>,
  figures: Figures,
): readonly Statement[] => [
  journal(event),
  register(event, 'tasks', 'recovery', {
    taskId: event.payload.taskId,
    recovery: event.type,
    recoveryAt: event.occurredAt,
    recoveryAttempt: figures.attempt ?? null,
    recoveryAgentId: figures.agentId ?? null,
    recoveryReason: figures.reason ?? null,
  }),
];

/** A finding without an agent or task has no row; an agent's is under the agent, with any task. */
export const breaker = (
  event: Placed<typeof Topic.agentHealth | T, 'CIRCUIT_BREAKER_STATE_CHANGED'>,
  owner: string | null,
  agentId: string | null,
): readonly Statement[] => {
  if (owner === null) return [];
  const { payload } = event;
  const values = { ...payload, owner, agentId, state: payload.to, breakerSince: event.occurredAt };
  return [register(event, 'breakers', 'breaker', values)];
};
