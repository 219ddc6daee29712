import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { describe, expect, test } from 'vitest';
import { observe } from './processor.ts';

const heartbeat = example(Topic.heartbeat, 'HEARTBEAT');

describe('a heartbeat', () => {
  test('is observed under its agent, and its checkpoint recorded under its task', () => {
    const [seen, recorded, ...rest] = observe(heartbeat);
    expect(seen).toEqual({
      topic: Topic.agentObservation,
      type: 'AGENT_HEARTBEAT',
      key: 'worker-1',
      payload: heartbeat.payload,
    });
    expect(recorded).toMatchObject({
      topic: Topic.taskCheckpoint,
      type: 'CHECKPOINT_RECORDED',
      key: 'OMN-1234',
      payload: { taskId: 'OMN-1234', agentId: 'worker-1', checkpoint: { checkpointId: 'checkpoint-1' } },
    });
    expect(rest).toEqual([]);
  });

  test.each([
    ['a checkpoint', { checkpoint: null }],
    ['a task', { task_id: null }],
  ])('without %s records none', (_what, overrides) => {
    const types = observe(example(Topic.heartbeat, 'HEARTBEAT', overrides)).map((draft) => draft.type);
    expect(types).toEqual(['AGENT_HEARTBEAT']);
  });
});

describe('control commands', () => {
  test.each(['AGENT_EXITED', 'CONFIRM_DEATH', 'HOLD_AGENT', 'RELEASE_AGENT', 'RESET_BREAKER', 'FILE_TICKET'] as const)(
    '%s is passed on unchanged',
    (type) => {
      const command = example(Topic.controlAgent, type);
      const { key, payload, correlationId } = command;
      expect(observe(command)).toEqual([{ topic: Topic.agentObservation, type, key, payload, correlationId }]);
    },
  );

  test('is refused where its key is another agent', () => {
    const misplaced = { ...example(Topic.controlAgent, 'AGENT_EXITED'), key: 'worker-2' };
    expect(() => observe(misplaced)).toThrow(expect.objectContaining({ reason: 'key_mismatch' }));
  });
});
