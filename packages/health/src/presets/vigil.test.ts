import { given } from '@vigil/stream/testing';
import { describe, expect, test } from 'vitest';
import { agentHealth } from '../evaluator/health.ts';
import { call, type HeartbeatPayload, heartbeat, presetsWith, T0 } from '../fixture.ts';
import type { Heartbeats } from '../signals/testing/case.ts';
import { using } from '../signals/testing/cases-cost.ts';
import { each, MIN, preset, SEC } from './judging.fixture.ts';

const vigil = preset('vigil');
const runtime: Partial<HeartbeatPayload> = { reporter: 'runtime', activity: 'working' };
const flying = (kind: 'model' | 'tool', deadline: number | null) =>
  call('c1', { kind, outcome: 'running', started_at: T0, deadline_at: deadline === null ? null : T0 + deadline });
const same = (n: number): Heartbeats => each(n, (i) => ({ tool_calls: [call(`c${i}`)] }));

test('nothing of its own for 6 min is STUCK; its runtime’s heartbeats do not count', () => {
  const heartbeats: Heartbeats = [
    [0, { ...runtime, agent_heartbeat_at: T0, tool_calls: [call('c1')] }],
    [6 * MIN, runtime],
  ];
  expect(vigil.at(heartbeats, 6 * MIN).state).toBe('HEALTHY');
  expect(vigil.at(heartbeats, 6 * MIN + 1)).toEqual({
    state: 'STUCK',
    fires: ['no_activity'],
    plan: 'STUCK or FAILING',
  });
});

describe('a call in flight', () => {
  test.each([
    ['a model call without deadline: ten minutes and 60 s', 'model', null, 11 * MIN],
    ['a tool call without deadline: thirty and 60 s', 'tool', null, 31 * MIN],
    ['a deadline of its own, and 60 s', 'tool', 15 * MIN, 16 * MIN],
  ] as const)('%s', (_, kind, deadline, limit) => {
    const heartbeats: Heartbeats = [
      [0, { ...runtime, agent_heartbeat_at: T0, tool_calls: [flying(kind, deadline)] }],
      [limit, runtime],
    ];
    expect(vigil.at(heartbeats, limit).state).not.toBe('STUCK');
    expect(vigil.at(heartbeats, limit + 1)).toMatchObject({
      state: 'STUCK',
      fires: expect.arrayContaining(['call_overdue']),
    });
  });
});

test('only a deadline that the call declares is hard evidence; a default is an estimate', () => {
  const overdue = (deadline: number | null, limit: number) => {
    const agent = given(agentHealth(presetsWith('vigil')), T0);
    agent.receive(heartbeat(0, { ...runtime, agent_heartbeat_at: T0, tool_calls: [flying('tool', deadline)] }), T0);
    agent.receive(heartbeat(limit, runtime), T0 + limit);
    agent.passTo(T0 + limit + SEC);
    const filed = agent.all().flatMap((one) => (one.type === 'WARRANT_FILED' ? one.payload.evidence : []));
    return filed.filter(({ signal }) => signal === 'call_overdue').map(({ hard }) => hard);
  };
  expect(overdue(2 * MIN, 3 * MIN)).toEqual([true]);
  expect(overdue(null, 3 * MIN), 'the deadline that a client may have by default').toEqual([]);
  expect(overdue(null, 11 * MIN)).toEqual([]);
  expect(overdue(null, 31 * MIN)).toEqual([false]);
});

test.each([
  [3, 'HEALTHY'],
  [4, 'DEGRADED'],
  [5, 'STUCK'],
  [11, 'STUCK'],
  [12, 'FAILING'],
])('%i identical calls: %s', (n, state) => {
  expect(vigil.at(same(n), n * SEC).state).toBe(state);
});

describe('rulings', () => {
  test('a rate limit waits: nothing is done, and silence does not count', () => {
    const heartbeats: Heartbeats = [
      [0, { ...runtime, agent_heartbeat_at: T0, tool_calls: [call('c1')] }],
      [7 * MIN, { ...runtime, activity: 'rate_limited', rate_limit: { retry_at: T0 + 20 * MIN } }],
    ];
    expect(vigil.at(heartbeats, 20 * MIN - 1)).toMatchObject({ state: 'DEGRADED', plan: null });
  });

  test('an end by force needs a hard signal, two axes, or a question without an answer', () => {
    expect(vigil.steps('STUCK or FAILING').find(({ step }) => step === 'terminate')).toMatchObject({
      requires: ['hard', 'two_axes', 'unanswered'],
    });
  });

  test('a loop of any length is nudged first, and by itself it is neither hard evidence nor two axes', () => {
    for (const n of [5, 12, 40]) {
      const agent = given(agentHealth(presetsWith('vigil')), T0);
      for (const [at, fields] of same(n)) agent.receive(heartbeat(at, fields), T0 + at);
      const filed = agent.all().flatMap((one) => (one.type === 'WARRANT_FILED' ? [one.payload] : []));
      expect(filed.length, `${n} calls`).toBeGreaterThan(0);
      for (const { plan, evidence } of filed) {
        expect(plan[0]?.step).toBe('nudge');
        expect(evidence.some(({ hard }) => hard)).toBe(false);
        expect(new Set(evidence.map(({ axis }) => axis))).toEqual(new Set(['repetition']));
      }
    }
  });

  test('an agent that is only DEGRADED gets no step', () => {
    const failing = each(10, (i) => ({
      tool_calls: [call(`c${i}`, { args_hash: `${i}`, outcome: 'error', result_hash: null })],
    }));
    expect(vigil.at(failing, 10 * SEC)).toMatchObject({ state: 'DEGRADED', plan: null });
  });

  test('a failed probation is tried again', () => {
    expect(vigil.policy.recovery).toMatchObject({ onProbationFailure: 'retry', maxAttempts: 3 });
  });
});

test('an agent with the eight fields alone is judged by its heartbeats, once its first five minutes are over', () => {
  expect([5 * MIN - 1, 5 * MIN, 6 * MIN + 1].map((ms) => vigil.at([[0, {}]], ms).fires)).toEqual([
    [],
    ['no_heartbeat'],
    ['no_activity', 'no_heartbeat'],
  ]);
});

test.each(['vigil', 'demo'])(
  '%s starts a new count of attempts after progress and the stable time together, without a number an hour',
  (name) => {
    const { recovery } = preset(name).policy;
    expect(recovery).toMatchObject({ resetAttempts: 'after_progress', maxAttemptsPerHour: null });
  },
);

test.each(['vigil', 'demo'])('%s names no channel of its own, so the default channels of alerting apply', (name) => {
  const { alerts } = preset(name).policy;
  for (const settings of Object.values(alerts)) expect(settings).toMatchObject({ channels: [] });
  expect(alerts).toHaveProperty('stuck_agent');
});

describe('token consumption: a sudden spike is a potential loop, a steady rate is healthy', () => {
  const USUAL = [1000, 1000, 1000, 1000, 1000] as const;
  const after = (...rates: readonly number[]) => {
    const heartbeats = using(...rates);
    return vigil.at(heartbeats, heartbeats.at(-1)?.[0] ?? 0);
  };

  test('a spike without progress is DEGRADED until four steady rates have followed', () => {
    expect(after(...USUAL, 50_000)).toMatchObject({ state: 'DEGRADED', fires: ['token_spike'] });
    expect(after(...USUAL, 50_000, 1000, 1000, 1000).state).toBe('DEGRADED');
    expect(after(...USUAL, 50_000, 1000, 1000, 1000, 1000)).toMatchObject({ state: 'HEALTHY' });
  });

  test('uneven rates leave it DEGRADED, and so does a steady rate that has ended', () => {
    expect(after(...USUAL, 50_000, 1000, 1000, 1000, 3000).state).toBe('DEGRADED');
    const steady = using(...USUAL, 50_000, 1000, 1000, 1000, 1000);
    const end = steady.at(-1)?.[0] ?? 0;
    const used = steady.at(-1)?.[1] ?? {};
    const stops = [...steady, [end + MIN, used], [end + 5 * MIN, used]] as const;
    expect(vigil.at(stops, end + 6 * MIN).fires).toContain('token_spike');
  });
});
