import { createHash } from 'node:crypto';
import { type CheckProof, checkpointRef, type Draft, type EventOf, type Heartbeat, Topic } from '@vigil/events';
import { type MapperProcessor, type Once, throughPartition } from '@vigil/stream';
import { checkKey, readHeartbeat, verifiedBy } from './heartbeat.ts';

type In = typeof Topic.heartbeat | typeof Topic.controlAgent;
type Out = typeof Topic.agentObservation | typeof Topic.taskCheckpoint;

/**
 * The observation that the evaluator reads: heartbeats, ends and control commands in one order. `receivedAt`: by the broker, epoch
 * milliseconds. Throws DeadLetter where key and agent differ.
 */
export const observe = (input: EventOf<In>, receivedAt: number): readonly Draft<Out>[] => {
  switch (input.type) {
    case 'HEARTBEAT':
      return [
        { topic: Topic.agentObservation, type: 'AGENT_HEARTBEAT', key: input.key, payload: input.payload },
        ...checkpointOf(input.payload, receivedAt),
      ];
    case 'AGENT_EXITED':
    case 'TERMINAL_USED':
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
const checkpointOf = (
  { task_id, agent_id, instance_id, attempt, checkpoint, verified, timestamp }: Heartbeat,
  receivedAt: number,
): readonly Draft<Out>[] => {
  if (checkpoint === null || task_id === null) return [];
  const named = { taskId: task_id, agentId: agent_id, instanceId: instance_id, attempt, verified: verified !== null };
  const { created_at } = checkpoint;
  const writtenAt = created_at === null ? null : placed(created_at, timestamp, receivedAt);
  const payload = { ...named, writtenAt, checkpoint: checkpointRef(checkpoint) };
  return [{ topic: Topic.taskCheckpoint, type: 'CHECKPOINT_RECORDED', key: task_id, payload }];
};

/** A time of the agent's clock on the broker's clock; never after the receipt. */
const placed = (time: number, stamp: number, receivedAt: number): number =>
  Math.max(0, receivedAt - Math.max(0, stamp - time));

/**
 * A checkpoint is recorded once, and again with what changes of it: its time, its validity, its lists of work. A report
 * without its validity does not repeat one with it. The log keeps events for a week, so it is recorded again each day.
 */
const recordedOnce: Once<Draft<Out>> = {
  of: (draft) => {
    if (draft.type !== 'CHECKPOINT_RECORDED') return null;
    const { writtenAt: _, ...payload } = draft.payload;
    const { taskId, agentId, instanceId, checkpoint } = payload;
    const { checkpointId, createdAt, valid } = checkpoint;
    const subject = JSON.stringify([taskId, agentId, instanceId, checkpointId, createdAt, valid === null]);
    return { subject, content: createHash('sha1').update(JSON.stringify(payload)).digest('base64') };
  },
  againAfterMs: 24 * 60 * 60_000,
  most: 10_000,
};

/**
 * The sequencer of the agent key space: all that judgement reads, in one order; and where time begins. `checkProof`:
 * null where the service has no key, and nothing is verified.
 */
export const createIngest = (checkProof: CheckProof | null): MapperProcessor<In, Out> => ({
  processor: 'heartbeat-ingest',
  service: 'heartbeat-ingest',
  reads: [Topic.heartbeat, Topic.controlAgent],
  foreign: [Topic.heartbeat],
  writes: [Topic.agentObservation, Topic.taskCheckpoint],
  time: { topic: Topic.heartbeat, sources: 'own' },
  writesTicks: Topic.heartbeat,
  ticks: [{ topic: Topic.agentObservation, everyMs: 1000, to: 'same' }],
  decode: {
    [Topic.heartbeat]: (record, codec) => {
      const heartbeat = readHeartbeat(codec, record.key, record.value ?? Buffer.alloc(0));
      const verified = verifiedBy(heartbeat, record, checkProof);
      const payload = { ...heartbeat, ingress: heartbeat.ingress ?? throughPartition(record.headers), verified };
      return { topic: Topic.heartbeat, type: 'HEARTBEAT', payload };
    },
  },
  map: (input, _now, receivedAt) => observe(input, receivedAt),
  once: recordedOnce,
});
