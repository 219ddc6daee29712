import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { given } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { brief, call, type HeartbeatPayload, heartbeat, policyOf, presetsWith, T0 } from '../fixture.ts';
import { agentHealth, type Observation } from './health.ts';

const decider = agentHealth(presetsWith('demo'));
const turn = (open: boolean, event: number): Partial<HeartbeatPayload> => ({
  reporter: 'runtime',
  activity: open ? 'working' : 'exiting',
  agent_heartbeat_at: T0 + event,
  turn: { open, started_at: T0, last_event_at: T0 + event },
});
const exited: Observation = {
  ...example(Topic.agentObservation, 'AGENT_EXITED', { agentId: 'a1', instanceId: 'a1.i1', reason: 'crashed' }),
  key: 'a1',
};

const stuck = () => {
  const agent = given(decider, T0);
  agent.receive(heartbeat(0, { ...turn(true, 0), tool_calls: [call('c0')] }), T0);
  agent.passTo(T0 + 9000);
  expect(brief(agent.all())).toContain('HEALTHY → STUCK');
  return agent;
};

test('an agent that is ended while it is STUCK is not reported HEALTHY on the way, and its warrant does not lapse as progress', () => {
  const agent = stuck();
  const found = agent.all().length;
  agent.receive(heartbeat(9500, turn(false, 9500)), T0 + 9500);
  agent.passTo(T0 + 60_000);
  agent.receive(exited, T0 + 60_000);
  const emitted = brief(agent.all().slice(found));
  expect(emitted).toContain('STUCK → TERMINATED');
  expect(emitted).not.toContain('STUCK → HEALTHY');
  expect(emitted).not.toContain('WARRANT_LAPSED progress');
});

const hold = (until: number | null): Observation => ({
  ...example(Topic.agentObservation, 'HOLD_AGENT', { agentId: 'a1', until }),
  key: 'a1',
});

test('an expired hold does not change this, in its own instance and in the next', () => {
  for (const instance of ['a1.i1', 'a1.i2']) {
    const agent = given(decider, T0);
    const own = { instance_id: instance };
    agent.receive(heartbeat(-3000, turn(true, -3000)), T0 - 3000);
    agent.receive(hold(T0 + 1000), T0 - 2000);
    agent.receive(heartbeat(0, { ...turn(true, 0), ...own, tool_calls: [call('c0')] }), T0);
    agent.passTo(T0 + 12_000);
    expect(brief(agent.all())).toContain('HEALTHY → STUCK');
    const found = agent.all().length;
    agent.receive(heartbeat(12_500, { ...turn(false, 12_500), ...own }), T0 + 12_500);
    agent.passTo(T0 + 20_000);
    const { payload } = exited as Extract<Observation, { type: 'AGENT_EXITED' }>;
    agent.receive({ ...exited, payload: { ...payload, instanceId: instance } } as Observation, T0 + 20_000);
    const emitted = brief(agent.all().slice(found));
    expect(emitted).toContain('STUCK → TERMINATED');
    expect(emitted).not.toContain('STUCK → HEALTHY');
    expect(emitted).not.toContain('WARRANT_LAPSED progress');
  }
});

test.each([null, T0 + 20_000])(
  'an agent that a person holds until %s while it exits is exempt, and so HEALTHY',
  (until) => {
    const agent = stuck();
    agent.receive(heartbeat(9500, turn(false, 9500)), T0 + 9500);
    expect(brief(agent.receive(hold(until), T0 + 10_000))).toContain('STUCK → HEALTHY');
  },
);

test('under a policy that ignores holds, a hold does not exempt an exiting agent', () => {
  const signals = 'signals: { no_activity: { after: 8s } }\nstates: { STUCK: [no_activity] }';
  const policies = policyOf(`policy: strict\n${signals}\nexemptions: { held: false }\n`);
  const agent = given(agentHealth(policies), T0);
  agent.receive(heartbeat(0, { ...turn(true, 0), tool_calls: [call('c0')] }), T0);
  agent.receive(hold(null), T0 + 9000);
  expect(brief(agent.all())).toContain('HEALTHY → STUCK');
  agent.receive(heartbeat(9500, turn(false, 9500)), T0 + 9500);
  agent.passTo(T0 + 20_000);
  expect(brief(agent.all())).not.toContain('STUCK → HEALTHY');
});

test('an exiting agent that continues after all is HEALTHY', () => {
  const agent = stuck();
  agent.receive(heartbeat(9500, turn(false, 9500)), T0 + 9500);
  const emitted = agent.receive(heartbeat(10_000, { ...turn(true, 10_000), tool_calls: [call('c1')] }), T0 + 10_000);
  expect(brief(emitted)).toContain('STUCK → HEALTHY');
});

test('an agent that was HEALTHY before it exits stays HEALTHY until its end', () => {
  const agent = given(decider, T0);
  agent.receive(heartbeat(0, { ...turn(true, 0), tool_calls: [call('c0')] }), T0);
  agent.receive(heartbeat(1000, turn(false, 1000)), T0 + 1000);
  agent.passTo(T0 + 60_000);
  expect(brief(agent.all()).filter((line) => line.startsWith('HEALTHY →'))).toEqual([]);
});

test('an agent that exits is shown as exiting, whether it worked or was idle before', () => {
  for (const before of ['working', 'idle'] as const) {
    const agent = given(decider, T0);
    agent.receive(heartbeat(0, { ...turn(true, 0), activity: before, tool_calls: [call('c0')] }), T0);
    agent.receive(heartbeat(1000, turn(false, 1000)), T0 + 1000);
    const shown = agent.all().flatMap((event) => (event.type === 'EXEMPTION_CHANGED' ? [event.payload.to] : []));
    expect(shown.at(-1)).toBe('exiting');
  }
});

const crashed = (rest: Partial<Extract<Observation, { type: 'AGENT_EXITED' }>['payload']>): Observation => ({
  ...example(Topic.agentObservation, 'AGENT_EXITED', {
    ...{ agentId: 'a1', instanceId: 'a1.i1', reason: 'crashed', orderId: null, ...rest },
  }),
  key: 'a1',
});

test.each([
  [{ code: 3, signal: null }, 'ended: crashed with exit code 3'],
  [{ code: null, signal: 'SIGKILL' }, 'ended: crashed by SIGKILL'],
  [{ code: null, signal: null }, 'ended: crashed'],
])('the finding of a crash has its exit code or signal, and its last lines: %j', (how, words) => {
  const agent = given(decider, T0);
  agent.receive(heartbeat(0, turn(true, 0)), T0);
  const printed = ['1', '2', '3', '4', '5', '  ', `6${'x'.repeat(200)}`, '7', ''];
  agent.receive(crashed({ ...how, lastOutput: printed }), T0 + 1000);
  const found = agent.all();
  expect(found.findLast(({ type }) => type === 'HEALTH_STATE_CHANGED')?.payload).toMatchObject({ reason: words });
  const warrant = found.find(({ type }) => type === 'WARRANT_FILED')?.payload;
  expect(warrant).toMatchObject({ evidence: [{ words }], lastOutput: ['3', '4', '5', `6${'x'.repeat(138)}…`, '7'] });
});
