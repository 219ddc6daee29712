import type { Topic } from '@vigil/events';
import { instant, orderOf, type Statement } from '@vigil/read-model';
import type { PlacedEvent } from '@vigil/stream';
import { breaker } from './findings.ts';
import type { Handlers } from './handlers.ts';
import { journal } from './journal.ts';

/** Each holder has its own row: the evaluator's events about two agents have no common order. */
export const taskHealth: Handlers<typeof Topic.taskHealth> = {
  TASK_HEALTH_CHANGED: (event) => [
    {
      kind: 'register',
      table: 'task_holders',
      key: { task_id: event.payload.taskId, agent_id: event.payload.agentId },
      group: 'holder',
      order: orderOf(event),
      columns: {
        instance_id: event.payload.instanceId,
        attempt: event.payload.attempt,
        hold: event.payload.hold,
        state: event.payload.to,
        end_reason: event.payload.endReason,
        ordered: event.payload.ordered,
        runtime_id: event.payload.runtimeId,
        holder_at: instant(event.occurredAt),
      },
    },
  ],
};

export const taskCheckpoint: Handlers<typeof Topic.taskCheckpoint> = {
  CHECKPOINT_RECORDED: (event) => {
    const { payload } = event;
    const { checkpoint } = payload;
    return [
      {
        kind: 'register',
        table: 'checkpoints',
        key: { task_id: payload.taskId, checkpoint_id: checkpoint.checkpointId },
        group: 'checkpoint',
        order: orderOf(event),
        columns: {
          agent_id: payload.agentId,
          instance_id: payload.instanceId,
          attempt: payload.attempt,
          parent_id: checkpoint.parentId,
          uri: checkpoint.uri,
          sha256: checkpoint.sha256,
          valid: checkpoint.valid,
          invalid_reason: checkpoint.invalidReason,
          created_at: instant(checkpoint.createdAt),
          recorded_at: instant(event.occurredAt),
          completed_work: checkpoint.completedWork,
          remaining_work: checkpoint.remainingWork,
        },
      },
    ];
  },
};

type Recovery = PlacedEvent<typeof Topic.taskRecovery>;
type Of<K extends Recovery['type']> = Extract<Recovery, { readonly type: K }>;
type Figures = { readonly attempt: number | null; readonly agentId: string | null; readonly reason: string | null };

export const taskRecovery: Handlers<typeof Topic.taskRecovery> = {
  RECOVERY_INITIATED: (event) => recovery(event, { ...of(event), agentId: event.payload.newAgentId, reason: null }),
  RECOVERY_COMPLETED: (event) => recovery(event, { ...of(event), agentId: event.payload.newAgentId, reason: null }),
  RECOVERY_FAILED: (event) => recovery(event, { ...because(event), attempt: event.payload.attempts, agentId: null }),
  PROBATION_PASSED: (event) => recovery(event, { ...of(event), agentId: event.payload.agentId, reason: null }),
  REVIEW_REQUIRED: (event) =>
    recovery(event, { ...because(event), attempt: event.payload.attempts, agentId: event.payload.agentId }),
  REVIEW_DECIDED: (event) => recovery(event, { attempt: null, agentId: null, reason: event.payload.decision }),
  RECOVERY_WAITING: (event) => recovery(event, { ...because(event), attempt: null, agentId: null }),
  RECOVERY_REFUSED: (event) => [journal(event)],
  SPAWN_IMPOSSIBLE: (event) => recovery(event, { ...because(event), attempt: null, agentId: null }),
  TASK_RELEASED: (event) => recovery(event, { attempt: null, agentId: null, reason: event.payload.why }),
  CIRCUIT_BREAKER_STATE_CHANGED: (event) => [journal(event), ...breaker(event, event.payload.taskId, null)],
};

const of = (event: { payload: { attempt: number } }) => ({ attempt: event.payload.attempt });
const because = (event: { payload: { reason: string } }) => ({ reason: event.payload.reason });

function recovery(
  event: Exclude<Recovery, Of<'CIRCUIT_BREAKER_STATE_CHANGED' | 'RECOVERY_REFUSED'>>,
  figures: Figures,
): readonly Statement[] {
  return [
    journal(event),
    {
      kind: 'register',
      table: 'tasks',
      key: { task_id: event.payload.taskId },
      group: 'recovery',
      order: orderOf(event),
      columns: {
        recovery: event.type,
        recovery_at: instant(event.occurredAt),
        recovery_attempt: figures.attempt,
        recovery_agent_id: figures.agentId,
        recovery_reason: figures.reason,
      },
    },
  ];
}
