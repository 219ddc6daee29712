import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { given } from '@vigil/stream/testing';
import { describe, expect, test } from 'vitest';
import { at, brief, call, type HeartbeatPayload, heartbeat, policyOf, presetsWith, T0 } from '../fixture.ts';
import { evaluate } from './evaluate.ts';
import { explain } from './explain.ts';
import { agentHealth } from './health.ts';

const demo = presetsWith('demo');
const decider = agentHealth(demo);
const runtime: Partial<HeartbeatPayload> = { reporter: 'runtime', activity: 'working' };

describe('instances', () => {
  const second = { instance_id: 'a1.i2' };

  test('a new instance replaces the previous one: the warrant lapses, and the task is left and taken', () => {
    const agent = given(decider, T0);
    agent.receive(heartbeat(0, { activity: 'stuck' }));
    expect(brief(agent.receive(heartbeat(1000, second)))).toEqual([
      'INSTANCE_STARTED',
      'STUCK → HEALTHY',
      'WARRANT_LAPSED new_instance',
      'AGENT_PRESENT new_instance',
      'T-1 left: STUCK',
      'T-1 took: HEALTHY',
    ]);
  });

  test('records of an older instance are refused; more than three in a minute mean that two run at once', () => {
    const records = [heartbeat(0), heartbeat(1000, second), ...[2, 3, 4, 5, 6].map((s) => heartbeat(s * 1000))];
    const out = [
      ...evaluate(
        demo,
        records.map((input, i) => ({ input, clock: at(i * 1000) })),
      ),
    ];
    expect(out.map(({ refused }) => refused)).toEqual([null, null, ...Array(5).fill('older_instance')]);
    expect(out.map(({ emitted }) => brief(emitted).includes('DUPLICATE_INSTANCE'))).toEqual([
      false,
      false,
      false,
      false,
      false,
      true,
      false,
    ]);
  });

  test('a heartbeat whose sequence is not above the last counts only as received', () => {
    const agent = given(decider, T0);
    agent.receive(heartbeat(0, { sequence: 5 }));
    expect(brief(agent.receive(heartbeat(1000, { sequence: 5, activity: 'stuck' })))).toEqual([]);
    expect(brief(agent.receive(heartbeat(2000, { sequence: 6, activity: 'stuck' })))).toContain('HEALTHY → STUCK');
  });

  test('a heartbeat that is over 24 h old starts no agent', () => {
    const old = heartbeat(0, { timestamp: T0 - 24 * 3_600_000 - 1 });
    expect([...evaluate(demo, [{ input: old, clock: at(0) }])][0]?.refused).toBe('too_old');
  });

  test('the end of an older instance, reported late, ends nothing', () => {
    const agent = given(decider, T0);
    agent.receive(heartbeat(0));
    agent.receive(heartbeat(1000, second));
    const late = example(Topic.agentObservation, 'AGENT_EXITED', {
      agentId: 'a1',
      instanceId: 'a1.i1',
      reason: 'crashed',
    });
    expect(agent.receive({ ...late, key: 'a1' })).toEqual([]);
  });
});

describe('an agent that was assumed dead without a report of its runtime', () => {
  const confirmed = {
    ...example(Topic.agentObservation, 'CONFIRM_DEATH', { agentId: 'a1', instanceId: 'a1.i1' }),
    key: 'a1',
  };
  const behind = { sequence: null, timestamp: T0 - 5000 };

  test('is alive when it sends a heartbeat: present again, and assignee of its task again', () => {
    const agent = given(decider, T0);
    agent.receive(heartbeat(0));
    expect(brief(agent.receive(confirmed, T0 + 20_000))).toContain('T-1 left: TERMINATED');
    expect(brief(agent.receive(heartbeat(20_001), T0 + 20_001))).toEqual([
      'TERMINATED → HEALTHY',
      'WARRANT_LAPSED progress',
      'AGENT_PRESENT returned',
      'T-1 took: HEALTHY',
    ]);
    expect(brief(agent.receive(heartbeat(21_000), T0 + 21_000))).toEqual([]);
  });

  test('is not alive by a late heartbeat that it sent before, even if its clock is wrong', () => {
    const agent = given(decider, T0);
    agent.receive(heartbeat(0, behind));
    agent.receive(confirmed, T0 + 20_000);
    expect(agent.receive(heartbeat(15_000, { ...behind, timestamp: T0 + 15_000 }), T0 + 40_000)).toEqual([]);
    expect(agent.receive(heartbeat(14_000, { ...behind, timestamp: T0 + 14_000 }), T0 + 90_000)).toEqual([]);
    expect(brief(agent.receive(heartbeat(0, { ...behind, timestamp: T0 + 15_001 }), T0 + 91_000))).toContain(
      'AGENT_PRESENT returned',
    );
  });

  test('stays ended after any later report if its runtime has reported the end', () => {
    const agent = given(decider, T0);
    agent.receive(heartbeat(0));
    const end = example(Topic.agentObservation, 'AGENT_EXITED', {
      agentId: 'a1',
      instanceId: 'a1.i1',
      reason: 'crashed',
    });
    agent.receive({ ...end, key: 'a1' }, T0 + 20_000);
    expect(agent.receive(heartbeat(30_000), T0 + 30_000)).toEqual([]);
  });
});

describe('policies', () => {
  test('an agent gets the policy that it requests if that is loaded, else the default', () => {
    const agent = given(decider, T0);
    expect(agent.receive(heartbeat(0, { policy: 'vigil' }))[0]?.policy?.name).toBe('vigil');
    expect(given(decider, T0).receive(heartbeat(0, { policy: 'unknown' }))[0]?.policy?.name).toBe('demo');
  });

  const small = (more: string) =>
    agentHealth(
      policyOf(
        `{ policy: small, signals: { self_reported_stuck: {}, repeated_calls: { times: 3 } }, states: { STUCK: [self_reported_stuck + repeated_calls] }, plans: [{ when: STUCK, do: [recover] }]${more} }`,
      ),
    );
  const stuck = { activity: 'stuck' as const };

  test('+ means together', () => {
    const agent = given(small(''), T0);
    expect(brief(agent.receive(heartbeat(0, stuck)))).not.toContain('HEALTHY → STUCK');
    const looping = { ...stuck, tool_calls: [call('1'), call('2'), call('3')] };
    expect(brief(agent.receive(heartbeat(1000, looping)))).toContain('HEALTHY → STUCK');
  });

  test('a policy that is not enabled observes and reports, and files no warrant', () => {
    const agent = given(small(', enabled: false'), T0);
    const emitted = brief(agent.receive(heartbeat(0, { ...stuck, tool_calls: [call('1'), call('2'), call('3')] })));
    expect(emitted).toContain('HEALTHY → STUCK');
    expect(emitted).not.toContain('WARRANT_FILED STUCK');
  });

  test('an excluded agent is shown and never judged', () => {
    const agent = given(small(", exclude: ['^a']"), T0);
    const emitted = brief(agent.receive(heartbeat(0, { ...stuck, tool_calls: [call('1'), call('2'), call('3')] })));
    expect(emitted).toEqual([
      'INSTANCE_STARTED',
      'AGENT_ANSWERED self_report',
      'AGENT_PRESENT first_heartbeat',
      'T-1 took: HEALTHY',
    ]);
  });
});

describe('answers', () => {
  test('each is announced once', () => {
    const agent = given(decider, T0);
    agent.receive(heartbeat(0));
    expect(brief(agent.receive(heartbeat(1000, { handoff: 'please take over' })))).toContain('AGENT_ANSWERED handoff');
    expect(brief(agent.receive(heartbeat(2000, { handoff: 'please take over' })))).toEqual([]);
    expect(brief(agent.receive(heartbeat(3000, { blockers: ['no access'] })))).toEqual(['AGENT_ANSWERED blockers']);
  });

  test('the same words are announced once an episode', () => {
    const agent = given(decider, T0);
    const asks = (at: number) => brief(agent.receive(heartbeat(at, { handoff: 'please take over' })));
    agent.receive(heartbeat(0, { ...runtime, tool_calls: [call('c1')] }));
    expect(asks(1000)).toContain('AGENT_ANSWERED handoff');
    expect(asks(2000)).not.toContain('AGENT_ANSWERED handoff');
    const rows = ['c2', 'c3', 'c4', 'c5', 'c6'].map((id) => call(id));
    expect(brief(agent.receive(heartbeat(3000, { ...runtime, tool_calls: rows })))).toContain('HEALTHY → STUCK');
    expect(asks(4000)).toContain('AGENT_ANSWERED handoff');
    expect(asks(5000)).not.toContain('AGENT_ANSWERED handoff');
  });
});

test('explain states the reason of each signal, and why it does not fire yet', () => {
  const agent = given(decider, T0);
  agent.receive(heartbeat(0, { ...runtime, agent_heartbeat_at: T0, tool_calls: [call('c1')] }));
  agent.passTo(T0 + 3000);
  const explained = explain(demo, agent.state(), agent.clock());
  expect(explained?.signals.find(({ signal }) => signal === 'no_activity')).toMatchObject({
    fires: false,
    firesFrom: T0 + 8001,
    words: 'no call, no output, no heartbeat of its own for 3 s; limit 8 s',
    states: ['STUCK'],
  });
  expect(explained).toMatchObject({ state: 'HEALTHY', nextAt: T0 + 8001, plan: null });
});

describe('the plan that explain expects next', () => {
  const MINUTE = 60_000;
  const coditect = presetsWith('coditect');
  const policy = 'coditect';
  const started = (more: Partial<HeartbeatPayload> = {}) => {
    const agent = given(agentHealth(coditect), T0);
    agent.receive(heartbeat(0, { ...runtime, policy, agent_heartbeat_at: T0, tool_calls: [call('c1')], ...more }));
    return agent;
  };
  /** It works and saves no checkpoint. */
  const worksUntil = (agent: ReturnType<typeof started>, minutes: number) => {
    for (let m = 1; m <= minutes; m++) {
      const tool_calls = [call(`c-${m}`, { args_hash: `${m}`, result_hash: `${m}`, mutating: true })];
      agent.receive(heartbeat(m * MINUTE, { ...runtime, policy, tool_calls, token_count: m }), T0 + m * MINUTE);
    }
  };
  const explained = (agent: ReturnType<typeof started>) => explain(coditect, agent.state(), agent.clock());

  test('of an agent that is DEGRADED is the one for STUCK, with its steps, what it offers to people, and its time', () => {
    const agent = started();
    worksUntil(agent, 18);
    expect(explained(agent)).toMatchObject({
      state: 'DEGRADED',
      plan: null,
      upcoming: {
        plan: 'STUCK',
        from: T0 + 30 * MINUTE + 1,
        steps: ['nudge', 'escalate', 'terminate', 'recover'],
        decisions: ['allow_more_time', 'force_handoff', 'terminate_and_recover'],
      },
    });
  });

  test('is the plan that holds, once it holds', () => {
    const agent = started();
    worksUntil(agent, 31);
    expect(explained(agent)).toMatchObject({
      ...{ state: 'STUCK', plan: 'STUCK', upcoming: { plan: 'STUCK', from: agent.clock().now } },
    });
  });

  test('is none where the policy acts on nothing', () => {
    const off = policyOf(`
policy: p
enabled: false
signals: { no_calls: { after: 5m } }
states: { STUCK: [no_calls] }
plans: [{ when: STUCK, do: [escalate: { timeout: never }] }]
`);
    const agent = given(agentHealth(off), T0);
    agent.receive(heartbeat(0, { ...runtime, tool_calls: [call('c1')] }));
    expect(explain(off, agent.state(), agent.clock())).toMatchObject({ upcoming: null });
  });
});

test('explain names signals that are not measured, and why', () => {
  const policies = policyOf(`
policy: p
signals: { no_tokens: { after: 5m }, no_work_update: { after: 5m }, no_output: { after: 5m }, token_spike: { factor: 5 } }
states: { STUCK: [no_tokens, no_work_update, no_output, token_spike] }
`);
  const wordsAfter = (more: Partial<HeartbeatPayload>) => {
    const agent = given(agentHealth(policies), T0);
    agent.receive(heartbeat(0, more));
    const explained = explain(policies, agent.state(), agent.clock())?.signals ?? [];
    return Object.fromEntries(explained.map(({ signal, words }) => [signal, words]));
  };
  const used = { token_count: 6300, usage: [] };
  expect(wordsAfter({ ...used, activity: 'awaiting_input' })).toMatchObject({
    no_tokens: 'no token used: measured only while it works',
    no_work_update: 'its work item untouched: never reported, so not measured',
    no_output: 'no output: never reported, so not measured',
    token_spike: 'unknown tokens a minute; no limit before 5 rates are known',
  });
  expect(wordsAfter({ token_count: null })).toMatchObject({
    no_tokens: 'no token used: no use of tokens reported, so not measured',
  });
});
