import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { given } from '@vigil/stream/testing';
import { describe, expect, test } from 'vitest';
import { brief, type HeartbeatPayload, heartbeat, presetsWith, T0 } from '../fixture.ts';
import { agentHealth } from './health.ts';

const MINUTE = 60_000;
const BY_RUNTIME = { verified: { kind: 'runtime', name: 'host-1' } } as const;
const BY_AGENT = { verified: { kind: 'agent', name: 'a1' } } as const;
const DIRECT = { verified: null } as const;

/** An agent that reports a minute apart, with these fields. */
const agentAfter = (...reports: readonly Partial<HeartbeatPayload>[]) => {
  const agent = given(agentHealth(presetsWith('vigil')), T0);
  const send = (more: Partial<HeartbeatPayload>, at: number) => agent.receive(heartbeat(at, more), T0 + at);
  for (const [i, more] of reports.entries()) send({ sequence: i, ...more }, i * MINUTE);
  const next = reports.length * MINUTE;
  return { agent, send: (more: Partial<HeartbeatPayload>) => send({ sequence: 99, ...more }, next) };
};
const identityOf = ({ agent }: ReturnType<typeof agentAfter>) => {
  const state = agent.state();
  return state.kind === 'known' ? state.history.identity : null;
};

describe('an agent that the gateway verifies', () => {
  test('has no other report that is sent directly to Kafka', () => {
    const story = agentAfter(BY_RUNTIME);
    const before = story.agent.state();
    expect(() => story.send({ ...DIRECT, task_id: 'T-9', labels: { team: 'x' } })).toThrow(
      'the gateway reports a1 with the token of runtime host-1; this heartbeat was sent directly to Kafka: send it to the gateway',
    );
    expect(() => story.send({ ...DIRECT, instance_id: 'another' })).toThrow('sent directly to Kafka');
    expect(story.agent.state()).toBe(before);
  });

  test('is lost when it falls silent, however many such heartbeats arrive', () => {
    const { agent, send } = agentAfter(BY_RUNTIME);
    const emitted: string[] = [];
    for (let at = MINUTE; at < 30 * MINUTE; at += MINUTE) {
      emitted.push(...brief(agent.passTo(T0 + at)));
      expect(() => send(DIRECT)).toThrow('sent directly to Kafka');
    }
    expect(emitted).toContain('AGENT_LOST silent');
  });

  test('may be reported directly after its end', () => {
    const alone = { ...BY_AGENT, reporter: 'agent', runtime_id: null } as const;
    const story = agentAfter(alone, { ...alone, exit: { code: 0, signal: null, reason: 'finished' } });
    story.send({ ...DIRECT, instance_id: 'next' });
    expect(identityOf(story)).toMatchObject({ instanceId: 'next', verified: null });
  });
});

describe('a verified agent whose end was confirmed', () => {
  const confirmed = () => {
    const story = agentAfter(BY_RUNTIME);
    const death = {
      ...example(Topic.agentObservation, 'CONFIRM_DEATH', { agentId: 'a1', instanceId: null }),
      key: 'a1',
    };
    story.agent.receive(death, T0 + MINUTE / 2);
    return story;
  };
  const stateOf = ({ agent }: ReturnType<typeof agentAfter>) => {
    const state = agent.state();
    return state.kind === 'known' ? state.announced.state : null;
  };

  test('is not revived by a heartbeat that is sent directly to Kafka', () => {
    const story = confirmed();
    story.send(DIRECT);
    expect(stateOf(story)).toBe('TERMINATED');
  });

  test('is revived by one that comes through the gateway', () => {
    const story = confirmed();
    story.send(BY_RUNTIME);
    expect(stateOf(story)).toBe('HEALTHY');
  });
});

describe('an agent that sends directly to Kafka', () => {
  test('is judged, and not verified', () => {
    const story = agentAfter(DIRECT, DIRECT);
    expect(identityOf(story)).toMatchObject({ verified: null });
  });

  test('is verified from the first heartbeat on that comes through the gateway', () => {
    const story = agentAfter(DIRECT, BY_RUNTIME);
    expect(identityOf(story)).toMatchObject(BY_RUNTIME);
    expect(() => story.send(DIRECT)).toThrow('sent directly to Kafka');
  });

  test('keeps no other instance from its name', () => {
    const story = agentAfter({ ...DIRECT, instance_id: 'forged' }, { ...BY_RUNTIME, instance_id: 'own' });
    expect(identityOf(story)).toMatchObject({ instanceId: 'own', ...BY_RUNTIME });
  });
});

test('the principal that last reported the agent is the one that is shown', () => {
  const story = agentAfter(BY_RUNTIME, BY_AGENT);
  expect(identityOf(story)).toMatchObject(BY_AGENT);
});

test('the health of a task has whether its agent is verified', () => {
  const healthOf = (more: Partial<HeartbeatPayload>) => {
    const agent = given(agentHealth(presetsWith('vigil')), T0);
    return agent
      .receive(heartbeat(0, { ...more, task_id: 'T-1' }), T0)
      .find(({ type }) => type === 'TASK_HEALTH_CHANGED')?.payload;
  };
  expect(healthOf(BY_RUNTIME)).toMatchObject({ verified: true });
  expect(healthOf(DIRECT)).toMatchObject({ verified: false });
});
