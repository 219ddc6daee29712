import { type Checkpoint, type CheckpointRef, type Draft, type EventOf, type Heartbeat, Topic } from '@vigil/events';
import { checkKey } from './heartbeat.ts';

type In = typeof Topic.heartbeat | typeof Topic.controlAgent;
type Out = typeof Topic.agentObservation | typeof Topic.taskCheckpoint;

/** The observation that the evaluator reads: heartbeats, ends and control commands in one order. Throws DeadLetter where key and agent differ. */
export const observe = (input: EventOf<In>): readonly Draft<Out>[] => {
  switch (input.type) {
    case 'HEARTBEAT':
      return [
        { topic: Topic.agentObservation, type: 'AGENT_HEARTBEAT', key: input.key, payload: input.payload },
        ...checkpointOf(input.payload),
      ];
    case 'AGENT_EXITED':
    case 'CONFIRM_DEATH':
    case 'HOLD_AGENT':
    case 'RELEASE_AGENT':
    case 'RESET_BREAKER':
    case 'FILE_TICKET': {
      checkKey(input.key, 'agentId', input.payload.agentId);
      const { type, key, payload, correlationId } = input;
      return [{ topic: Topic.agentObservation, type, key, payload, correlationId } as Draft<Out>];
    }
  }
};

/** A checkpoint belongs to the task, whichever agent wrote it: without a task it cannot be resumed. */
const checkpointOf = ({ task_id, agent_id, instance_id, attempt, checkpoint }: Heartbeat): readonly Draft<Out>[] => {
  if (checkpoint === null || task_id === null) return [];
  const payload = {
    taskId: task_id,
    agentId: agent_id,
    instanceId: instance_id,
    attempt,
    checkpoint: refer(checkpoint),
  };
  return [{ topic: Topic.taskCheckpoint, type: 'CHECKPOINT_RECORDED', key: task_id, payload }];
};

const refer = (checkpoint: Checkpoint): CheckpointRef => ({
  checkpointId: checkpoint.checkpoint_id,
  parentId: checkpoint.parent_id,
  uri: checkpoint.uri,
  sha256: checkpoint.sha256,
  valid: checkpoint.valid,
  invalidReason: checkpoint.invalid_reason,
  createdAt: checkpoint.created_at,
  completedWork: checkpoint.completed_work,
  remainingWork: checkpoint.remaining_work,
});
