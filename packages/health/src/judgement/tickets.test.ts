import { Unwelcome } from '@vigil/stream';
import { given, laws } from '@vigil/stream/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { agentHealth, type Observation } from '../evaluator/health.ts';
import { call, heartbeat, policyOf, T0 } from '../fixture.ts';
import { AFTER, agent, decider, MIN, severities } from './tickets.fixture.ts';

describe('bands of steps without an ACCEPT', () => {
  test('a high ticket is filed at 15, not at 14', () => {
    const a = agent();
    a.steps(0, 0);
    expect(a.steps(AFTER, 14)).toEqual([]);
    expect(severities(a.steps(AFTER + 1000, 1))).toEqual(['high']);
  });

  test('a medium ticket is filed at 10 only in a loop: three RETRY in a row, not two', () => {
    const a = agent();
    a.steps(0, 0);
    expect(a.steps(AFTER, 12)).toEqual([]);
    expect(a.steps(AFTER + 1000, 2, 'RETRY')).toEqual([]);
    const b = agent();
    b.steps(0, 0);
    expect(b.steps(AFTER, 9)).toEqual([]);
    const [filed] = b.steps(AFTER + 1000, 3, 'RETRY');
    expect(filed).toMatchObject({ ticket: { severity: 'medium' }, findings: { loop: true } });
  });

  test('a repeated call is a loop too', () => {
    const a = agent();
    a.steps(0, 0);
    expect(a.steps(AFTER, 12)).toEqual([]);
    const same = { tool_calls: Array.from({ length: 5 }, (_, i) => call(`c${i}`)) };
    const [filed] = a.receive(AFTER + 1000, same);
    expect(filed).toMatchObject({
      ticket: {
        severity: 'medium',
        cause: 'doom loop: 12 steps without an ACCEPT, and the same calls, the same errors or RETRY in a row',
        suggested_action: 'restart: it repeats itself without new information',
      },
      findings: { loop: true, signals: ['looping'] },
    });
  });

  test('each band files one ticket an episode; a worse band files another, and an ACCEPT restarts the count', () => {
    const a = agent();
    a.steps(0, 0);
    expect(severities(a.steps(AFTER, 15))).toEqual(['high']);
    expect(a.steps(AFTER + 1000, 4)).toEqual([]);
    expect(severities(a.steps(AFTER + 2000, 1))).toEqual(['critical']);
    expect(a.steps(AFTER + 3000, 9)).toEqual([]);
    expect(a.steps(AFTER + 4000, 1, 'ACCEPT')).toEqual([]);
  });

  test('no ticket is filed in the first two minutes of an instance; one that is due then is filed at their end', () => {
    const a = agent();
    expect(a.steps(0, 0)).toEqual([]);
    expect(a.steps(1000, 25)).toEqual([]);
    expect(a.passTo(2 * MIN - 1)).toEqual([]);
    expect(severities(a.passTo(2 * MIN))).toEqual(['critical']);
  });

  test('a new instance counts from its own start', () => {
    const a = agent();
    a.steps(0, 0);
    expect(severities(a.steps(AFTER, 15))).toEqual(['high']);
    a.receive(AFTER + 1000, { instance_id: 'a1.i2', steps: { total_steps: 0, verdicts: [] } });
    const next = { instance_id: 'a1.i2', steps: { total_steps: 15, verdicts: [] } };
    expect(severities(a.receive(2 * AFTER + 1000, next))).toEqual(['high']);
  });
});

describe('a stall', () => {
  test('is critical at 4 minutes, not a millisecond before, and has its duration', () => {
    const a = agent();
    a.steps(0, 1, 'ACCEPT');
    a.steps(1000, 2, 'CONTINUE', { tool_calls: [call('c1')], phase: 'review', labels: { graph: 'g' } });
    expect(a.passTo(4 * MIN + 999)).toEqual([]);
    const [filed] = a.passTo(4 * MIN + 1000);
    expect(filed?.ticket).toMatchObject({
      severity: 'critical',
      stall_minutes: 4,
      cause: 'stall: no step for 4 min',
      suggested_action: 'restart: its last step is too long ago',
      worker_agent_id: 'a1',
      worker_session_id: 'a1.i1',
      worker_node_id: 'review',
      worker_graph_id: 'g',
      recent_verdicts: ['ACCEPT', 'CONTINUE', 'CONTINUE'],
      total_steps_checked: 3,
      steps_since_last_accept: 2,
    });
  });

  test('does not exist for an agent that reports no steps, or waits for a person', () => {
    const a = agent();
    a.receive(0, { tool_calls: [call('c1')] });
    expect(a.passTo(60 * MIN)).toEqual([]);
    const b = agent();
    b.steps(0, 3, 'CONTINUE', { tool_calls: [call('c1')], activity: 'awaiting_input' });
    expect(b.passTo(60 * MIN)).toEqual([]);
  });

  test('of the next episode is another ticket', () => {
    const a = agent();
    a.steps(0, 2, 'CONTINUE', { tool_calls: [call('c1')] });
    expect(severities(a.passTo(6 * MIN))).toEqual(['critical']);
    expect(a.steps(6 * MIN, 1, 'ACCEPT')).toEqual([]);
    expect(severities(a.passTo(10 * MIN))).toEqual(['critical']);
    expect(a.passTo(20 * MIN)).toEqual([]);
  });
});

test('a policy without tickets files none, and stores nothing for them', () => {
  const driven = given(agentHealth(policyOf('policy: p\nsignals: { no_activity: { after: 1m } }\nstates: {}\n')), T0);
  driven.receive(heartbeat(0, { steps: { total_steps: 0, verdicts: [] } }));
  driven.receive(heartbeat(AFTER, { steps: { total_steps: 40, verdicts: [] } }), T0 + AFTER);
  expect(driven.all().filter(({ type }) => type === 'WORKER_ESCALATION_TICKET')).toEqual([]);
  expect(JSON.stringify(driven.state())).toContain('"progressEvidence":null');
});

test('the laws hold with tickets', () => {
  const steps = fc.record({
    total_steps: fc.integer({ min: 0, max: 40 }),
    verdicts: fc.array(fc.constantFrom('ACCEPT' as const, 'RETRY' as const, 'CONTINUE' as const), { maxLength: 4 }),
  });
  const heartbeats: fc.Arbitrary<Observation> = fc
    .record({
      steps: fc.option(steps),
      activity: fc.constantFrom('working' as const, 'awaiting_input' as const, 'rate_limited' as const, null),
      instance_id: fc.constantFrom('a1.i1', 'a1.i1', 'a1.i2'),
      tool_calls: fc.constantFrom([], [call('c1')], [call('c2', { outcome: 'error', error_class: 'timeout' })]),
    })
    .map((more) => heartbeat(0, more));
  laws({ ...decider, observe: (...args) => kept(...args) }, heartbeats, { runs: 200 });
});

const kept: typeof decider.observe = (state, input, clock) => {
  try {
    return decider.observe(state, input, clock);
  } catch (error) {
    return error instanceof Unwelcome && error.state ? (error.state as typeof state) : state;
  }
};
