import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { Unwelcome } from '@vigil/stream';
import { given } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { brief, heartbeat, policyOf, T0 } from '../fixture.ts';
import { agentHealth, type Observation } from './health.ts';
import { UNSEEN } from './state.ts';

const WEEK = 7 * 24 * 3_600_000;
const decider = agentHealth(
  policyOf(`
policy: holds
signals: { no_activity: { after: 5m } }
states: { STUCK: [no_activity] }
`),
);
const asked = { agentId: 'a1', by: 'ada', why: 'deploys' };
const hold = (until: number | null = null): Observation => ({
  ...example(Topic.agentObservation, 'HOLD_AGENT', { ...asked, until }),
  key: 'a1',
  correlationId: 'command-1',
});
const release = (): Observation => ({
  ...example(Topic.agentObservation, 'RELEASE_AGENT', asked),
  key: 'a1',
  correlationId: 'command-2',
});
const exited: Observation = {
  ...example(Topic.agentObservation, 'AGENT_EXITED', {
    agentId: 'a1',
    instanceId: 'a1.i1',
    reason: 'crashed',
    code: 3,
    signal: null,
    orderId: null,
  }),
  key: 'a1',
};
const running = () => {
  const agent = given(decider, T0);
  agent.receive(heartbeat(0, { instance_id: 'a1.i1', activity: 'working' }), T0);
  return agent;
};
const answers = (emitted: readonly { type: string }[]) => emitted.filter(({ type }) => type.startsWith('HOLD_'));

test('a hold and its release are each answered at once, with the command as the correlation id', () => {
  const agent = running();
  expect(answers(agent.receive(hold(T0 + 60_000), T0 + 1000))).toMatchObject([
    {
      type: 'HOLD_CHANGED',
      correlationId: 'command-1',
      payload: { agentId: 'a1', held: true, until: T0 + 60_000, by: 'ada', why: 'deploys' },
    },
  ]);
  expect(answers(agent.receive(release(), T0 + 2000))).toMatchObject([
    { type: 'HOLD_CHANGED', correlationId: 'command-2', payload: { held: false, until: null, by: 'ada' } },
  ]);
});

test('a hold is answered although another exemption is shown', () => {
  const agent = running();
  agent.receive(heartbeat(1000, { instance_id: 'a1.i1', activity: 'paused' }), T0 + 1000);
  expect(answers(agent.receive(hold(), T0 + 2000))).toMatchObject([{ type: 'HOLD_CHANGED' }]);
});

test('the second hold of a held agent is answered too, and each hold only once', () => {
  const agent = running();
  agent.receive(hold(), T0 + 1000);
  expect(answers(agent.receive(hold(T0 + 90_000), T0 + 2000))).toMatchObject([{ payload: { until: T0 + 90_000 } }]);
  expect(answers(agent.receive(heartbeat(3000, { instance_id: 'a1.i1' }), T0 + 3000))).toEqual([]);
  expect(answers(agent.passTo(T0 + 80_000))).toEqual([]);
});

test('a hold of an ended agent is refused with the end, and its replacement is judged', () => {
  const agent = running();
  agent.receive(exited, T0 + 1000);
  expect(answers(agent.receive(hold(), T0 + 2000))).toMatchObject([
    {
      type: 'HOLD_REFUSED',
      correlationId: 'command-1',
      payload: { held: true, by: 'ada', reason: 'a1 has ended: crashed with exit code 3. Hold its replacement.' },
    },
  ]);
  agent.receive(heartbeat(3000, { instance_id: 'a1.i2', activity: 'working' }), T0 + 3000);
  expect(brief(agent.all())).not.toContain('exempt: held');
});

test('a hold is refused when the agent has been silent for so long that it counts as ended', () => {
  const agent = running();
  const emitted = agent.receive(hold(), T0 + WEEK);
  expect(answers(emitted)).toMatchObject([{ type: 'HOLD_REFUSED' }]);
});

test('a release is refused if the agent is not held, or its hold has expired', () => {
  const reason = 'a1 is not held: nothing is released.';
  const agent = running();
  expect(answers(agent.receive(release(), T0 + 1000))).toMatchObject([
    { type: 'HOLD_REFUSED', correlationId: 'command-2', payload: { held: false, reason } },
  ]);
  agent.receive(hold(T0 + 5000), T0 + 2000);
  expect(answers(agent.receive(release(), T0 + 5000))).toMatchObject([{ type: 'HOLD_REFUSED', payload: { reason } }]);
});

test('a held agent that has ended is released for its replacement', () => {
  const agent = running();
  agent.receive(hold(), T0 + 1000);
  agent.receive(exited, T0 + 2000);
  expect(answers(agent.receive(release(), T0 + 3000))).toMatchObject([
    { type: 'HOLD_CHANGED', payload: { held: false } },
  ]);
});

test.each([hold(), release()])('$type of an unknown agent is a dead letter', (input) => {
  const clock = { now: T0, watched: T0 } as Parameters<typeof decider.observe>[2];
  expect(() => decider.observe(UNSEEN, input, clock)).toThrow(Unwelcome);
});
