import { given } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { call, type HeartbeatPayload, heartbeat, presetsWith, T0 } from '../fixture.ts';
import { agentHealth } from './health.ts';

const demo = agentHealth(presetsWith('demo'));
const runtime: Partial<HeartbeatPayload> = { reporter: 'runtime', interval_ms: 1000, activity: 'working' };

/** Stuck with its first task by its silence. */
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

test('an agent that was stuck with one task and continues with another reports which it has left, once', () => {
  const { turned, works } = stuck();
  works(13_000, 'T-2');
  works(14_000, 'T-3');
  expect(turned()).toEqual(['STUCK T-1 null', 'HEALTHY T-2 T-1']);
});

test('without a next task it reports that too', () => {
  const { turned, works } = stuck();
  works(13_000, null);
  expect(turned()).toEqual(['STUCK T-1 null', 'HEALTHY null T-1']);
});

test('with the same, it has left nothing', () => {
  const { turned, works } = stuck();
  works(13_000, 'T-1');
  expect(turned()).toEqual(['STUCK T-1 null', 'HEALTHY T-1 null']);
});
