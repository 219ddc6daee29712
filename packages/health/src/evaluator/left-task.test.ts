import { given } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { call, type HeartbeatPayload, heartbeat, presetsWith, T0 } from '../fixture.ts';
import { agentHealth } from './health.ts';

const demo = agentHealth(presetsWith('demo'));
const runtime: Partial<HeartbeatPayload> = { reporter: 'runtime', interval_ms: 1000, activity: 'working' };

/** An agent that is stuck with its first task, because it is silent. */
const stuck = () => {
  const agent = given(demo, T0);
  agent.receive(heartbeat(0, { ...runtime, tool_calls: [call('c0')] }), T0);
  for (let ms = 1000; ms <= 12_000; ms += 1000) agent.receive(heartbeat(ms, runtime), T0 + ms);
  const turned = () =>
    agent.all().flatMap((event) => {
      if (event.type !== 'HEALTH_STATE_CHANGED') return [];
      const { to, taskId, leftTaskId } = event.payload;
      return [`${to} ${taskId} ${leftTaskId}`];
    });
  const works = (ms: number, task_id: string | null) =>
    agent.receive(heartbeat(ms, { ...runtime, task_id, tool_calls: [call(`c${ms}`)] }), T0 + ms);
  return { turned, works };
};

test('when a stuck agent continues with another task, the task that it left is announced once', () => {
  const { turned, works } = stuck();
  works(13_000, 'T-2');
  works(14_000, 'T-3');
  expect(turned()).toEqual(['STUCK T-1 null', 'HEALTHY T-2 T-1']);
});

test('the left task is announced also without a next task', () => {
  const { turned, works } = stuck();
  works(13_000, null);
  expect(turned()).toEqual(['STUCK T-1 null', 'HEALTHY null T-1']);
});

test('no task is announced as left when the agent continues with the same task', () => {
  const { turned, works } = stuck();
  works(13_000, 'T-1');
  expect(turned()).toEqual(['STUCK T-1 null', 'HEALTHY T-1 null']);
});
