import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { given } from '@vigil/stream/testing';
import { describe, expect, test } from 'vitest';
import { at, brief, call, type HeartbeatPayload, heartbeat, presetsWith, T0 } from '../fixture.ts';
import { explain } from './explain.ts';
import { agentHealth, type Observation } from './health.ts';
import { UNSEEN } from './state.ts';

const demo = presetsWith('demo');
const decider = agentHealth(demo);
const runtime: Partial<HeartbeatPayload> = { reporter: 'runtime', activity: 'working' };

const hold = (until: number | null): Observation => ({
  ...example(Topic.agentObservation, 'HOLD_AGENT', { agentId: 'a1', until }),
  key: 'a1',
});
const release: Observation = { ...example(Topic.agentObservation, 'RELEASE_AGENT', { agentId: 'a1' }), key: 'a1' };

describe('absence', () => {
  const silent = () => {
    const agent = given(decider, T0);
    agent.receive(heartbeat(0, { ...runtime, agent_heartbeat_at: T0, tool_calls: [call('c1')] }));
    return agent;
  };

  test('an agent silent for exactly the policy is still healthy', () => {
    const agent = silent();
    agent.passTo(T0 + 8000);
    expect(brief(agent.all())).not.toContain('HEALTHY → STUCK');
    agent.passTo(T0 + 8001);
    expect(brief(agent.all())).toContain('HEALTHY → STUCK');
  });

  test('an agent that sends its own heartbeats counts as active; only its calls show a hang', () => {
    const agent = given(decider, T0);
    const own: Partial<HeartbeatPayload> = { reporter: 'agent', activity: 'working' };
    agent.receive(heartbeat(0, { ...own, tool_calls: [call('c1')] }));
    for (let ms = 1000; ms <= 45_000; ms += 1000) agent.receive(heartbeat(ms, own), T0 + ms);
    expect(brief(agent.all()).filter((line) => line.startsWith('HEALTHY →'))).toEqual([]);
    agent.passTo(T0 + 45_001);
    expect(brief(agent.all()).filter((line) => line.startsWith('HEALTHY →'))).toEqual(['HEALTHY → DEGRADED']);
    agent.passTo(T0 + 53_000);
    expect(brief(agent.all())).not.toContain('DEGRADED → STUCK');
    expect(brief(agent.passTo(T0 + 53_001))).toContain('DEGRADED → STUCK');
  });

  test('unwatched time does not count against an agent, and the time before it is not lost', () => {
    const agent = silent();
    agent.unwatched(3_600_000);
    agent.passTo(T0 + 3_600_000 + 8000);
    expect(brief(agent.all())).not.toContain('HEALTHY → STUCK');
    agent.passTo(T0 + 3_600_000 + 8001);
    expect(brief(agent.all())).toContain('HEALTHY → STUCK');
  });

  test('an agent that is asked for more heartbeats is lost by the interval of its policy, and no sooner', () => {
    const vigil = agentHealth(presetsWith('vigil'));
    for (const [interval_ms, lostAfter] of [
      [30_000, 90_000],
      [10_000, 90_000],
      [9_000, 27_000],
    ] as const) {
      const agent = given(vigil, T0);
      agent.receive(heartbeat(0, { ...runtime, interval_ms }));
      agent.passTo(T0 + lostAfter);
      expect(brief(agent.all()), `${interval_ms}`).not.toContain('AGENT_LOST silent');
      expect(brief(agent.passTo(T0 + lostAfter + 1)), `${interval_ms}`).toContain('AGENT_LOST silent');
    }
  });

  test('the limit of missing heartbeats is that of the policy, at any interval that is asked for', () => {
    const coditect = agentHealth(presetsWith('coditect'));
    for (const interval_ms of [300_000, 100_000]) {
      const agent = given(coditect, T0);
      agent.receive(heartbeat(0, { ...runtime, interval_ms }));
      agent.passTo(T0 + 600_000);
      expect(brief(agent.all())).not.toContain('HEALTHY → DEGRADED');
      expect(brief(agent.passTo(T0 + 600_001))).toContain('HEALTHY → DEGRADED');
    }
  });

  test('an agent that reports through an ingress is absent only while that ingress is open', () => {
    const clockWith = (now: number, gateway: number) => ({ ...at(now), ingresses: { gateway: T0 + gateway } });
    let state = decider.observe(UNSEEN, heartbeat(0, { ingress: 'gateway' }), clockWith(0, 0));
    for (const event of decider.decide(state, clockWith(0, 0))) state = decider.evolve(state, event);
    expect(brief(decider.decide(state, clockWith(60_000, 4000)))).toEqual([]);
    expect(brief(decider.decide(state, clockWith(60_000, 16_000)))).toContain('AGENT_LOST silent');
  });

  test('an agent of a silent gateway is not reported as silent while another gateway is open', () => {
    const clockWith = (now: number, mute: number, other: number) => ({
      ...at(now),
      ingresses: { gateway: T0 + other, 'gateway:a': T0 + mute, 'gateway:b': T0 + other },
    });
    let state = decider.observe(UNSEEN, heartbeat(0, { ingress: 'gateway:a' }), clockWith(0, 0, 0));
    for (const event of decider.decide(state, clockWith(0, 0, 0))) state = decider.evolve(state, event);
    expect(brief(decider.decide(state, clockWith(600_000, 1500, 600_000)))).toEqual([]);
    const moved = decider.observe(
      state,
      heartbeat(600_000, { ingress: 'gateway:b' }),
      clockWith(600_000, 1500, 600_000),
    );
    expect(brief(decider.decide(moved, clockWith(616_000, 1500, 616_000)))).toContain('AGENT_LOST silent');
  });

  test('an agent of an unknown gateway instance is judged by the clock of its family', () => {
    const clockWith = (now: number, gateway: number) => ({ ...at(now), ingresses: { gateway: T0 + gateway } });
    let state = decider.observe(UNSEEN, heartbeat(0, { ingress: 'gateway:unknown' }), clockWith(0, 0));
    for (const event of decider.decide(state, clockWith(0, 0))) state = decider.evolve(state, event);
    expect(brief(decider.decide(state, clockWith(60_000, 4000)))).toEqual([]);
    expect(brief(decider.decide(state, clockWith(60_000, 16_000)))).toContain('AGENT_LOST silent');
  });

  test('a change of ingress changes no age', () => {
    const through = { ...at(1000), ingresses: { gateway: T0 + 400_000 } };
    let state = decider.observe(UNSEEN, heartbeat(0, { tool_calls: [call('c1')] }), at(0));
    state = decider.observe(state, heartbeat(1000, { ingress: 'gateway' }), through);
    const ageAt = (clock: typeof through) =>
      explain(demo, state, clock)?.signals.find(({ signal }) => signal === 'no_calls')?.value;
    expect(ageAt(through)).toBe(1000);
    expect(ageAt({ ...at(9000), ingresses: { gateway: T0 + 404_000 } })).toBe(5000);
  });

  test("an agent's clock ten minutes off, either way, is reported and changes no judgement", () => {
    const STARTED = ['INSTANCE_STARTED', 'AGENT_PRESENT', 'TASK_HEALTH_CHANGED'];
    for (const off of [-600_000, 600_000]) {
      const agent = given(decider, T0);
      for (let ms = 0; ms <= 60_000; ms += 1000)
        agent.receive(
          heartbeat(ms, { ...runtime, timestamp: T0 + ms + off, agent_heartbeat_at: T0 + ms + off }),
          T0 + ms,
        );
      expect(agent.all().map(({ type }) => type)).toEqual([...STARTED, 'CLOCK_DRIFTED']);
      expect(explain(demo, agent.state(), agent.clock())?.notes).toHaveLength(1);
    }
  });

  test('an agent that answers with its next heartbeat is lost, and present again', () => {
    const agent = given(decider, T0);
    agent.receive(heartbeat(0, { activity: 'idle', task_id: null }));
    agent.passTo(T0 + 15_000);
    expect(brief(agent.all())).not.toContain('AGENT_LOST silent');
    expect(brief(agent.passTo(T0 + 15_001))).toEqual(['AGENT_LOST silent']);
    expect(brief(agent.receive(heartbeat(16_000, { activity: 'idle', task_id: null })))).toEqual([
      'AGENT_PRESENT returned',
    ]);
  });
});

describe('calls in flight', () => {
  test('suspend absence until deadline and buffer, then are overdue', () => {
    const agent = given(decider, T0);
    agent.receive(heartbeat(0, { ...runtime, tool_calls: [call('c1', { kind: 'model', outcome: 'running' })] }));
    agent.passTo(T0 + 35_000);
    expect(brief(agent.all())).not.toContain('HEALTHY → STUCK');
    agent.passTo(T0 + 35_001);
    const stuck = agent.all().find((event) => event.type === 'HEALTH_STATE_CHANGED');
    expect(stuck?.payload).toMatchObject({
      to: 'STUCK',
      reason: expect.stringContaining('model call bash not answered'),
    });
  });
});

describe('an agent that a person holds', () => {
  test('is not judged until released, and its silence in that time does not count', () => {
    const agent = given(decider, T0);
    agent.receive(heartbeat(0, { ...runtime, agent_heartbeat_at: T0, tool_calls: [call('c1')] }));
    agent.passTo(T0 + 9000);
    expect(brief(agent.receive(hold(null)))).toEqual([
      'held',
      'STUCK → HEALTHY',
      'exempt: held',
      'WARRANT_LAPSED held',
      'T-1 kept: HEALTHY',
    ]);
    agent.passTo(T0 + 600_000);
    expect(brief(agent.receive(release))).toEqual(['released', 'exempt: null']);
    expect(brief(agent.passTo(T0 + 608_000))).not.toContain('HEALTHY → STUCK');
    expect(brief(agent.passTo(T0 + 609_000))).toContain('HEALTHY → STUCK');
  });
});

describe('a hold that has run out', () => {
  test('has no effect, and its release delays nothing', () => {
    const agent = given(decider, T0);
    agent.receive(heartbeat(0, { ...runtime, agent_heartbeat_at: T0, tool_calls: [call('c1')] }));
    agent.receive(hold(T0 + 1000));
    agent.receive(release, T0 + 5000);
    expect(brief(agent.passTo(T0 + 9000))).not.toContain('HEALTHY → STUCK');
    expect(brief(agent.passTo(T0 + 9001))).toContain('HEALTHY → STUCK');
  });
});

describe('what a loss reports to the brake', () => {
  const lossAfter = (
    heartbeats: readonly (readonly [ms: number, more: Partial<HeartbeatPayload>])[],
    more: readonly Observation[] = [],
  ) => {
    const agent = given(decider, T0);
    for (const [ms, more] of heartbeats) agent.receive(heartbeat(ms, more), T0 + ms);
    for (const input of more) agent.receive(input);
    agent.passTo(agent.clock().now + 60_000);
    const lost = agent.all().find(({ type }) => type === 'AGENT_LOST')?.payload;
    return lost && 'observedMs' in lost ? { exemption: lost.exemption, observedMs: lost.observedMs } : null;
  };
  const working: Partial<HeartbeatPayload> = { activity: 'working' };

  test('that the agent was idle, paused or held at its last heartbeat', () => {
    expect(lossAfter([[0, working]])?.exemption).toBeNull();
    expect(lossAfter([[0, { activity: 'awaiting_input' }]])?.exemption).toBeNull();
    expect(
      lossAfter([
        [0, working],
        [1000, { activity: 'idle' }],
      ])?.exemption,
    ).toBe('idle');
    expect(lossAfter([[0, { activity: 'paused' }]])?.exemption).toBe('paused');
    expect(lossAfter([[0, working]], [hold(null)])?.exemption).toBe('held');
    expect(lossAfter([[0, working]], [hold(null), release])?.exemption).toBeNull();
  });

  test('that it was a sub-agent, which has no host or runtime of its own', () => {
    expect(lossAfter([[0, { ...working, parent_agent_id: 'a0' }]])?.exemption).toBe('sub_agent');
    expect(lossAfter([[0, { ...working, parent_agent_id: null }]])?.exemption).toBeNull();
  });

  test('that it was held beyond its last heartbeat, and not from the time that its hold expires', () => {
    const exemptionAt = (ms: number, until: number) => {
      const agent = given(decider, T0);
      agent.receive(heartbeat(0, working), T0);
      agent.receive(hold(T0 + until), T0);
      agent.receive(heartbeat(ms, working), T0 + ms);
      agent.passTo(T0 + 600_000);
      const lost = agent.all().find(({ type }) => type === 'AGENT_LOST')?.payload;
      return lost && 'observedMs' in lost ? lost.exemption : undefined;
    };
    expect(exemptionAt(5000, 5001)).toBe('held');
    expect(exemptionAt(5000, 5000)).toBeNull();
    expect(exemptionAt(5000, 600_000)).toBe('held');
  });

  test('that it was held when its end was reported, and not if the hold had expired by then', () => {
    const endedAt = (ms: number, until: number) => {
      const agent = given(decider, T0);
      agent.receive(heartbeat(0, working), T0);
      agent.receive(hold(T0 + until), T0);
      const exited = example(Topic.agentObservation, 'AGENT_EXITED', { ...end, reason: 'crashed', orderId: null });
      const emitted = agent.receive({ ...exited, key: 'a1' }, T0 + ms);
      const lost = emitted.find(({ type }) => type === 'AGENT_LOST')?.payload;
      return lost && 'observedMs' in lost ? lost.exemption : undefined;
    };
    const end = { agentId: 'a1', instanceId: 'a1.i1' };
    expect(endedAt(5000, 5001)).toBe('held');
    expect(endedAt(5000, 5000)).toBeNull();
  });

  test('no hold of a previous instance', () => {
    const agent = given(decider, T0);
    agent.receive(heartbeat(0, working), T0);
    agent.receive(hold(T0 + 1000), T0);
    agent.receive(heartbeat(2000, { ...working, instance_id: 'a1.i2' }), T0 + 2000);
    const emitted = agent.passTo(T0 + 60_000);
    expect(emitted.flatMap((one) => (one.type === 'AGENT_LOST' ? [one.payload.exemption] : []))).toEqual([null]);
  });

  test('the time from its first heartbeat to its last, not to the loss', () => {
    expect(lossAfter([[0, working]])?.observedMs).toBe(0);
    expect(
      lossAfter([
        [0, working],
        [1000, working],
        [9000, working],
      ])?.observedMs,
    ).toBe(9000);
  });
});

describe('an agent that sends only the first eight fields, without a task', () => {
  const README: Partial<HeartbeatPayload> = {
    task_id: null,
    instance_id: null,
    runtime_id: null,
    phase: 'build',
    policy: 'vigil',
  };
  const MIN = 60_000;
  const vigil = agentHealth(presetsWith('vigil'));
  const heartbeats = (more: Partial<HeartbeatPayload>, forMs: number, everyMs = 30_000) => {
    const agent = given(vigil, T0);
    for (let ms = 0; ms <= forMs; ms += everyMs) agent.receive(heartbeat(ms, { ...README, ...more }), T0 + ms);
    return agent;
  };
  const changes = (agent: ReturnType<typeof heartbeats>) => brief(agent.all()).filter((line) => line.includes('→'));

  test('is missing when it stops: no_heartbeat after 2 min, STUCK after 6 min', () => {
    const agent = heartbeats({}, 10 * MIN);
    agent.passTo(T0 + 12 * MIN);
    expect(changes(agent)).toEqual([]);
    agent.passTo(T0 + 12 * MIN + 1);
    expect(changes(agent)).toEqual(['HEALTHY → DEGRADED']);
    agent.passTo(T0 + 16 * MIN);
    expect(changes(agent)).toEqual(['HEALTHY → DEGRADED']);
    agent.passTo(T0 + 16 * MIN + 1);
    expect(changes(agent)).toEqual(['HEALTHY → DEGRADED', 'DEGRADED → STUCK']);
  });

  test('that sends one heartbeat, as in the README, is missing when its time to start is over', () => {
    const agent = heartbeats({}, 0);
    agent.passTo(T0 + 5 * MIN - 1);
    expect(changes(agent)).toEqual([]);
    agent.passTo(T0 + 5 * MIN);
    expect(changes(agent)).toEqual(['HEALTHY → DEGRADED']);
  });

  test('that continues to send stays healthy without a task', () => {
    expect(changes(heartbeats({}, 5 * 60 * MIN))).toEqual([]);
    expect(changes(heartbeats({ reports_checkpoints: true, token_count: 5 }, 5 * 60 * MIN))).toEqual([]);
  });

  test('that reports itself idle is not missing when it stops', () => {
    const agent = heartbeats({ activity: 'idle' }, 10 * MIN);
    agent.passTo(T0 + 600 * MIN);
    expect(changes(agent)).toEqual([]);
  });
});
