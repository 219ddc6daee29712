import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { given } from '@vigil/stream/testing';
import { describe, expect, test } from 'vitest';
import { brief, type HeartbeatPayload, heartbeat, presetsWith, T0 } from '../fixture.ts';
import { agentHealth, type Observation } from './health.ts';

const vigil = agentHealth(presetsWith('vigil'));
const alone: Partial<HeartbeatPayload> = { runtime_id: null, reporter: 'agent' };
const exit = (reason: NonNullable<HeartbeatPayload['exit']>['reason']): Partial<HeartbeatPayload> => ({
  exit: { code: 0, signal: null, reason },
});
const TERMINATED = 'HEALTHY → TERMINATED';

/** An agent that has sent heartbeats at 0 and 1 s. */
const working = (more: Partial<HeartbeatPayload>) => {
  const agent = given(vigil, T0);
  agent.receive(heartbeat(0, { ...more, sequence: 1 }));
  agent.receive(heartbeat(1000, { ...more, sequence: 2 }), T0 + 1000);
  const receive = (ms: number, own: Partial<HeartbeatPayload>) =>
    agent.receive(heartbeat(ms, { ...more, sequence: ms / 1000 + 1, ...own }), T0 + ms);
  return { ...agent, receive };
};

describe('an agent without a runtime ends when it reports its own end', () => {
  test.each(['finished', 'explicit'] as const)('as %s, and is not missing afterwards', (reason) => {
    const { receive, passTo, all } = working(alone);
    const emitted = receive(2000, exit(reason));
    expect(brief(emitted)).toContain(TERMINATED);
    expect(emitted.find(({ type }) => type === 'AGENT_LOST')?.payload).toMatchObject({ expected: true });
    const before = all().length;
    passTo(T0 + 3_600_000);
    expect(brief(all().slice(before)).filter((one) => one.includes('STUCK'))).toEqual([]);
  });

  test.each(['crashed', 'resource_limit', 'lost'] as const)(
    'but not as %s, which would put its task on another agent',
    (reason) => {
      expect(brief(working(alone).receive(2000, exit(reason)))).toEqual([]);
    },
  );

  test('also with its first heartbeat', () => {
    const agent = given(vigil, T0);
    expect(brief(agent.receive(heartbeat(0, { ...alone, ...exit('finished') })))).toContain('INSTANCE_STARTED');
    expect(brief(agent.all()).filter((one) => one === TERMINATED)).toHaveLength(1);
  });

  test('a later heartbeat of the same instance revokes the end; a late one that was sent before does not', () => {
    const { receive } = working(alone);
    receive(5000, { ...exit('explicit'), sequence: null });
    expect(brief(receive(6000, { timestamp: T0 + 4000, sequence: null }))).toEqual([]);
    expect(brief(receive(7000, { sequence: null }))).toContain('TERMINATED → HEALTHY');
  });

  test('without an instance id, its next heartbeat begins the next instance, and a repetition of the last one does not', () => {
    const { receive } = working({ ...alone, instance_id: null });
    expect(brief(receive(2000, exit('finished')))).toContain(TERMINATED);
    expect(brief(receive(3000, exit('finished')))).toEqual([]);
    expect(brief(receive(4000, {}))).toContain('INSTANCE_STARTED');
  });
});

describe('a heartbeat ends no agent of a runtime', () => {
  const runtime: Partial<HeartbeatPayload> = { runtime_id: 'host-1', reporter: 'runtime' };
  const forged: Partial<HeartbeatPayload> = { ...alone, ...exit('finished') };
  const ended = (emitted: readonly string[]) =>
    emitted.filter((one) => one === TERMINATED || one === 'STUCK → TERMINATED');

  test.each<[string, Partial<HeartbeatPayload>]>([
    ['its own', exit('finished')],
    ['one that names no runtime', forged],
    ['one of another instance', { ...forged, instance_id: 'a1.forged' }],
    ['one without an instance', { ...forged, instance_id: null }],
  ])('%s', (_what, own) => {
    const { receive, all, passTo } = working(runtime);
    receive(2000, own);
    passTo(T0 + 10_000);
    expect(ended(brief(all()))).toEqual([]);
  });

  test('nor do two of another instance if the first takes the agent’s name', () => {
    const { receive, all } = working(runtime);
    const other = { ...alone, instance_id: 'a1.forged' };
    receive(2000, { ...other, sequence: 1 });
    receive(3000, { ...other, ...exit('finished'), sequence: 2 });
    receive(4000, { ...forged, instance_id: 'a1.again', sequence: 1 });
    expect(ended(brief(all()))).toEqual([]);
  });

  test('nor does the report of a runtime that exits in a heartbeat', () => {
    expect(ended(brief(working({ ...alone, reporter: 'runtime' }).receive(2000, exit('finished'))))).toEqual([]);
  });

  test('after its runtime has reported the end, another instance without one may end itself', () => {
    const reported = { agentId: 'a1', instanceId: 'a1.i1', taskId: 'T-1', reason: 'finished', orderId: null } as const;
    const agent = given(vigil, T0);
    agent.receive(heartbeat(0, { ...runtime, sequence: 1 }));
    agent.receive({ ...example(Topic.agentObservation, 'AGENT_EXITED', reported), key: 'a1' }, T0 + 1000);
    agent.receive(heartbeat(2000, { ...alone, instance_id: 'a1.i2', sequence: 1 }), T0 + 2000);
    agent.receive(heartbeat(3000, { ...forged, instance_id: 'a1.i2', sequence: 2 }), T0 + 3000);
    expect(ended(brief(agent.all()))).toHaveLength(2);
  });
});

test('an instance whose start and crash arrive at once ends, though the one before it had ended too', () => {
  const agent = given(vigil, T0);
  const exited = (instanceId: string): Observation => ({
    ...example(Topic.agentObservation, 'AGENT_EXITED', { agentId: 'a1', instanceId, reason: 'crashed', at: null }),
    key: 'a1',
  });
  agent.receive(heartbeat(0, { instance_id: 'a1.i1' }), T0);
  agent.receive(exited('a1.i1'), T0 + 1000);
  expect(brief(agent.all())).toContain('HEALTHY → TERMINATED');
  const before = agent.all().length;
  agent.receive(exited('a1.i2'), T0 + 60_000);
  agent.passTo(T0 + 120_000);
  const later = brief(agent.all().slice(before));
  expect(later.filter((one) => one === 'INSTANCE_STARTED' || one.includes('→'))).toEqual([
    'INSTANCE_STARTED',
    'HEALTHY → TERMINATED',
  ]);
  // Another report of the same end changes nothing.
  agent.receive(exited('a1.i2'), T0 + 121_000);
  expect(brief(agent.all()).filter((one) => one === 'HEALTHY → TERMINATED')).toHaveLength(2);
});
