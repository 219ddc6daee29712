import { Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { describe, expect, test } from 'vitest';
import { observe } from './processor.ts';

const heartbeat = example(Topic.heartbeat, 'HEARTBEAT');

const RECEIVED = EXAMPLE_TIME + 100;

describe('a heartbeat', () => {
  test('is observed under its agent, and its checkpoint recorded under its task', () => {
    const [seen, recorded, ...rest] = observe(heartbeat, RECEIVED);
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
    const types = observe(example(Topic.heartbeat, 'HEARTBEAT', overrides), RECEIVED).map((draft) => draft.type);
    expect(types).toEqual(['AGENT_HEARTBEAT']);
  });
});

describe('the time of a checkpoint', () => {
  const HOUR = 3_600_000;
  /** When it was written by the broker's clock. Times are relative: to the agent's clock, and to the receipt. */
  const writtenAt = (createdAt: number | null, aheadMs = 0) => {
    const { checkpoint } = heartbeat.payload;
    const stamp = RECEIVED + aheadMs;
    const created_at = createdAt === null ? null : stamp + createdAt;
    const [, recorded] = observe(
      example(Topic.heartbeat, 'HEARTBEAT', {
        timestamp: stamp,
        checkpoint: checkpoint && { ...checkpoint, created_at },
      }),
      RECEIVED,
    );
    if (recorded?.type !== 'CHECKPOINT_RECORDED') throw new Error('none is recorded');
    expect(recorded.payload.checkpoint.createdAt).toBe(created_at);
    return recorded.payload.writtenAt === null ? null : recorded.payload.writtenAt - RECEIVED;
  };

  test.each([0, 2 * HOUR, -2 * HOUR])(
    'is placed on the clock of the broker by an agent whose clock differs by %i ms',
    (aheadMs) => {
      expect(writtenAt(-HOUR, aheadMs)).toBe(-HOUR);
    },
  );

  test('is never after the receipt, and unknown where the agent reports none', () => {
    expect([writtenAt(HOUR), writtenAt(null)]).toEqual([0, null]);
  });
});

describe('control commands', () => {
  test.each([
    'AGENT_EXITED',
    'TERMINAL_USED',
    'CONFIRM_DEATH',
    'HOLD_AGENT',
    'RELEASE_AGENT',
    'RESET_BREAKER',
    'FILE_TICKET',
  ] as const)('%s is passed on unchanged', (type) => {
    const command = example(Topic.controlAgent, type);
    const { key, payload, correlationId } = command;
    expect(observe(command, RECEIVED)).toEqual([{ topic: Topic.agentObservation, type, key, payload, correlationId }]);
  });

  test('is refused where its key is another agent', () => {
    const misplaced = { ...example(Topic.controlAgent, 'AGENT_EXITED'), key: 'worker-2' };
    expect(() => observe(misplaced, RECEIVED)).toThrow(expect.objectContaining({ reason: 'key_mismatch' }));
  });
});
