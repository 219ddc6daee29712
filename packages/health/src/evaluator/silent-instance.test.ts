import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { given } from '@vigil/stream/testing';
import { describe, expect, test } from 'vitest';
import { brief, type HeartbeatPayload, heartbeat, presetsWith, T0 } from '../fixture.ts';
import { agentHealth, type Observation } from './health.ts';
import { OlderInstance } from './observe.ts';

const vigil = agentHealth(presetsWith('vigil'));
const MINUTE = 60_000;
const of = (instanceId: string, more: Partial<HeartbeatPayload> = {}): Partial<HeartbeatPayload> => ({
  instance_id: instanceId,
  activity: 'working',
  ...more,
});

/** The host's report that `instanceId` ended `ms` after T0. */
const exited = (instanceId: string, ms: number, reason: 'crashed' | 'finished' = 'crashed'): Observation => ({
  ...example(Topic.agentObservation, 'AGENT_EXITED', {
    ...{ agentId: 'a1', instanceId, taskId: 'T-1', runtimeId: 'host-1', reason, orderId: null, at: T0 + ms },
  }),
  key: 'a1',
});

/** The instance Y has sent a heartbeat at 0 and at 30 s. */
const living = () => {
  const agent = given(vigil, T0);
  agent.receive(heartbeat(0, of('a1.Y')), T0);
  agent.receive(heartbeat(30_000, of('a1.Y')), T0 + 30_000);
  return agent;
};

describe('the end of an instance that never sent a heartbeat', () => {
  test('ends nothing while another instance is present, at any time', () => {
    for (const at of [-10 * MINUTE, 31_000, 10 * MINUTE]) {
      const agent = living();
      expect(brief(agent.receive(exited('a1.X', at), T0 + 31_000))).toEqual([]);
      expect(brief(agent.receive(heartbeat(60_000, of('a1.Y')), T0 + 60_000))).toEqual([]);
    }
  });

  test('ends nothing if it is older than the last heartbeat of an instance that is silent or has ended since', () => {
    const silent = living();
    silent.passTo(T0 + 3 * MINUTE);
    expect(brief(silent.receive(exited('a1.X', 30_000)))).toEqual([]);
    expect(brief(silent.receive(heartbeat(3 * MINUTE, of('a1.Y'))))).toContain('AGENT_PRESENT returned');
    const finished = living();
    finished.receive(exited('a1.Y', 40_000, 'finished'), T0 + 40_000);
    expect(brief(finished.receive(exited('a1.X', 30_000)))).toEqual([]);
  });

  test('is the end of the next instance if it is newer than that heartbeat', () => {
    const silent = living();
    silent.passTo(T0 + 3 * MINUTE);
    expect(brief(silent.receive(exited('a1.X', 30_001)))).toContain('WARRANT_FILED TERMINATED');
    const crashing = given(vigil, T0);
    crashing.receive(exited('a1.X1', -2 * MINUTE), T0);
    expect(brief(crashing.receive(exited('a1.X2', -MINUTE)))).toContain('INSTANCE_STARTED');
  });

  test('is stored, so that a late heartbeat of that instance begins nothing', () => {
    const agent = living();
    agent.receive(exited('a1.X', -MINUTE), T0 + 31_000);
    expect(() => agent.receive(heartbeat(32_000, of('a1.X')), T0 + 32_000)).toThrow(OlderInstance);
  });
});

describe('a heartbeat of an unknown instance', () => {
  test('that was sent before the present one began begins nothing', () => {
    const agent = living();
    expect(() => agent.receive(heartbeat(-1, of('a1.X')), T0 + 31_000)).toThrow(OlderInstance);
    expect(brief(agent.receive(heartbeat(60_000, of('a1.Y')), T0 + 60_000))).toEqual([]);
  });

  test('that was sent afterwards begins the next instance, and so does any other once the present one is missing', () => {
    expect(brief(living().receive(heartbeat(0, of('a1.X')), T0 + 31_000))).toContain('INSTANCE_STARTED');
    const silent = living();
    silent.passTo(T0 + 3 * MINUTE);
    expect(brief(silent.receive(heartbeat(-5 * MINUTE, of('a1.X'))))).toContain('INSTANCE_STARTED');
  });
});
