import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { describe, expect, test } from 'vitest';
import type { Input } from '../task/observe.ts';
import { admit, checkpoint, health, left, openStory, recoverTask, TASK, took } from '../task/story.fixture.ts';

const writes = (agentId: string, checkpointId: string, verified = false): Input =>
  example(Topic.taskCheckpoint, 'CHECKPOINT_RECORDED', {
    taskId: TASK,
    agentId,
    instanceId: `${agentId}.i1`,
    verified,
    checkpoint: checkpoint(checkpointId),
  });
const isVerified = (agentId: string): Input =>
  health({ agentId, instanceId: `${agentId}.i1`, hold: 'took', verified: true });
const keptAfter = (...inputs: readonly Input[]) => {
  const story = openStory();
  for (const input of inputs) story.receive(input);
  return story.state().checkpoints.map(({ checkpointId }) => checkpointId);
};

describe('while an agent has a task', () => {
  test('its checkpoints are kept, and those of a stranger are not', () => {
    expect(keptAfter(took('worker-1'), writes('worker-1', 'own'), writes('stranger', 'poison'))).toEqual(['own']);
  });

  test('a second agent that takes the task writes none until the first has left it', () => {
    const both = [took('worker-1'), writes('worker-1', 'own'), took('second'), writes('second', 'early')];
    expect(keptAfter(...both)).toEqual(['own']);
    expect(keptAfter(...both, left('worker-1', 'finished'))).toEqual(['own', 'early']);
    expect(keptAfter(...both, left('worker-1', 'finished'), writes('second', 'late'))).toEqual([
      'own',
      'early',
      'late',
    ]);
  });

  test('a checkpoint of the next agent counts also where it is read before that agent has the task', () => {
    const crash = [took('worker-1'), writes('worker-1', 'own'), left('worker-1', 'crashed')];
    expect(keptAfter(...crash, writes('next', 'first'))).toEqual(['own']);
    expect(keptAfter(...crash, writes('next', 'first'), took('next'))).toEqual(['own', 'first']);
    expect(keptAfter(...crash, writes('next', 'first'), isVerified('next'))).toEqual(['own']);
    expect(keptAfter(...crash, writes('next', 'first', true), isVerified('next'))).toEqual(['own', 'first']);
  });

  test('who writes to Kafka in the name of a verified agent adds none', () => {
    const verified = [isVerified('worker-1'), writes('worker-1', 'own', true)];
    expect(keptAfter(...verified, writes('worker-1', 'forged', false))).toEqual(['own']);
  });
});

describe('between the death of an agent and the start of the next', () => {
  const crashed = [isVerified('worker-1'), writes('worker-1', 'own', true), left('worker-1', 'crashed'), recoverTask()];

  test('a late checkpoint of the dead agent is kept, and one of a stranger is not', () => {
    expect(keptAfter(...crashed, writes('worker-1', 'late', true))).toEqual(['own', 'late']);
    expect(keptAfter(...crashed, writes('stranger', 'poison', true))).toEqual(['own']);
  });

  test('who writes to Kafka in the name of the dead agent, or of its replacement, adds none', () => {
    expect(keptAfter(...crashed, writes('worker-1', 'forged'), writes('worker-1-r1', 'forged'))).toEqual(['own']);
  });

  test('an agent that the gateway does not verify may be followed by another that it does not', () => {
    const unverified = [took('worker-1'), writes('worker-1', 'own'), left('worker-1', 'crashed'), recoverTask()];
    expect(keptAfter(...unverified, writes('worker-1', 'late'))).toEqual(['own', 'late']);
  });
});

test('the first checkpoint may arrive before it is known who has the task', () => {
  expect(keptAfter(writes('worker-1', 'first'), took('worker-1'))).toEqual(['first']);
});

test('the last attempt of recovery writes checkpoints, also before it is known to have the task', () => {
  const story = openStory();
  for (const input of [took('worker-1'), writes('worker-1', 'c1'), recoverTask()]) story.receive(input);
  admit(story);
  expect(story.state().tried).toMatchObject([{ agentId: 'worker-1-r1' }]);
  story.receive(took('second'));
  story.receive(writes('worker-1-r1', 'c2'));
  story.receive(writes('worker-1', 'late'));
  expect(story.state().checkpoints.map(({ checkpointId }) => checkpointId)).toEqual(['c1', 'c2']);
});
