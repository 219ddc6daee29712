import { stepOf } from '@vigil/policy';
import { given } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { agentHealth } from '../evaluator/health.ts';
import { brief, call, type HeartbeatPayload, heartbeat, presetsWith, T0 } from '../fixture.ts';

const vigil = agentHealth(presetsWith('vigil'));
const MIN = 60_000;
const open = { open: true, started_at: T0, last_event_at: T0 };

const hung = (more: Partial<HeartbeatPayload>) => {
  const agent = given(vigil, T0);
  const reports = { reporter: 'runtime', activity: 'working', turn: open, ...more } as const;
  agent.receive(heartbeat(0, { ...reports, tool_calls: [call('c0')] }), T0);
  agent.receive(heartbeat(6 * MIN, reports), T0 + 6 * MIN);
  agent.passTo(T0 + 6 * MIN + 1);
  return agent.all();
};
const warrantOf = (emitted: ReturnType<typeof hung>) =>
  emitted.flatMap((event) => (event.type === 'WARRANT_FILED' ? [event.payload] : []))[0];

test('a hung sub-agent is STUCK, and its plan only escalates to people, without termination and recovery', () => {
  const emitted = hung({ parent_agent_id: 'session', task_id: null });
  expect(brief(emitted)).toContain('HEALTHY → STUCK');
  const warrant = warrantOf(emitted);
  expect(warrant).toMatchObject({ parentAgentId: 'session' });
  expect(warrant?.plan.map(stepOf)).toEqual([
    { step: 'alert', channel: null, severity: 'warning' },
    { step: 'escalate', timeoutMs: 15 * MIN, onTimeout: 'hold', options: ['allow_more_time', 'pardon'] },
  ]);
});

test('its parent’s plan has every step', () => {
  const warrant = warrantOf(hung({}));
  expect(warrant).toMatchObject({ parentAgentId: null });
  const steps = warrant?.plan.map(({ step }) => step);
  expect(steps).toEqual(expect.arrayContaining(['nudge', 'alert', 'escalate', 'terminate', 'recover']));
});

test('a sub-agent never holds the task of its session, nor a task called as itself, so its end recovers nothing', () => {
  const tasks = (more: Partial<HeartbeatPayload>) =>
    hung(more).flatMap((emitted) => (emitted.type === 'TASK_HEALTH_CHANGED' ? [emitted.payload.taskId] : []));
  expect(tasks({ parent_agent_id: 'session', task_id: 'T-1' })).toEqual([]);
  expect(tasks({ task_id: null })).toEqual([]);
  expect(new Set(tasks({ task_id: 'T-1' }))).toEqual(new Set(['T-1']));
});
