import { given } from '@vigil/stream/testing';
import { describe, expect, test } from 'vitest';
import { agentHealth } from '../evaluator/health.ts';
import { call, type HeartbeatPayload, heartbeat, presetsWith, T0 } from '../fixture.ts';
import type { Heartbeats } from '../signals/testing/case.ts';
import { using } from '../signals/testing/cases-cost.ts';
import { each, MIN, preset, SEC } from './judging.fixture.ts';

const coditect = preset('coditect');
const stateAt = (heartbeats: Heartbeats, ms: number) => coditect.at(heartbeats, ms).state;

const checkpoint = (id: string): Partial<HeartbeatPayload> => ({
  checkpoint: {
    checkpoint_id: id,
    parent_id: null,
    uri: null,
    sha256: null,
    valid: null,
    invalid_reason: null,
    created_at: null,
    completed_work: [],
    remaining_work: [],
  },
});
/** Heartbeats every five minutes up to `ms`, so that nothing else is missing. */
const silentAfter = (
  ms: number,
  first: Partial<HeartbeatPayload>,
  more: Partial<HeartbeatPayload> = {},
): Heartbeats => [
  [0, first],
  ...Array.from({ length: Math.floor(ms / (5 * MIN)) }, (_, i) => [(i + 1) * 5 * MIN, more] as const),
];
/** Without a task, so that no work is expected. */
const FREE: Partial<HeartbeatPayload> = { task_id: null, runtime_id: null };
/** The same with a newer `last_tool_call` in each. */
const busyAfter = (ms: number, first: Partial<HeartbeatPayload>, more: Partial<HeartbeatPayload> = {}): Heartbeats =>
  silentAfter(ms, first, more).map(([at, one]) => [at, { last_tool_call: T0 + at, token_count: 100 + at, ...one }]);
const calls = (n: number, failed: (i: number) => boolean): Heartbeats =>
  each(n, (i) => ({
    tool_calls: [call(`c${i}`, { args_hash: `${i}`, result_hash: null, outcome: failed(i) ? 'error' : 'ok' })],
  }));

describe('section 1: states', () => {
  test('a checkpoint up to 10 min old is HEALTHY, up to 30 min DEGRADED, then STUCK', () => {
    const heartbeats = busyAfter(30 * MIN, checkpoint('k1'), { agent_heartbeat_at: null });
    const edges = [10 * MIN, 10 * MIN + 1, 20 * MIN, 20 * MIN + 1, 30 * MIN, 30 * MIN + 1];
    expect(edges.map((ms) => stateAt(heartbeats, ms))).toEqual([
      'HEALTHY',
      'DEGRADED',
      'DEGRADED',
      'DEGRADED',
      'DEGRADED',
      'STUCK',
    ]);
  });

  test('an error rate of 25 % is HEALTHY, above it DEGRADED, and eight calls are needed', () => {
    expect(coditect.limits('error_rate')).toEqual({ above: 0.25, window: 20, min_calls: 8 });
    expect(
      stateAt(
        calls(20, (i) => i % 4 === 0),
        20 * SEC,
      ),
    ).toBe('HEALTHY');
    expect(
      stateAt(
        calls(20, (i) => i % 4 === 0 || i === 17),
        20 * SEC,
      ),
    ).toBe('DEGRADED');
    expect(
      stateAt(
        calls(7, (i) => i % 2 === 0),
        20 * SEC,
      ),
    ).toBe('HEALTHY');
    expect(
      stateAt(
        calls(8, (i) => i % 2 === 0),
        20 * SEC,
      ),
    ).toBe('DEGRADED');
  });

  test('five times its usual use of tokens is HEALTHY, more is DEGRADED', () => {
    const using = (last: number): Heartbeats =>
      [1000, 1000, 1000, 1000, 1000, 1000, last].map((_, i, all) => [
        i * MIN,
        { token_count: all.slice(0, i + 1).reduce((sum, n) => sum + n, 0) },
      ]);
    expect(stateAt(using(5000), 6 * MIN)).toBe('HEALTHY');
    expect(stateAt(using(5001), 6 * MIN)).toBe('DEGRADED');
  });

  test('the fifth identical operation is STUCK, the fourth is not', () => {
    const same = (n: number) => each(n, (i) => ({ tool_calls: [call(`c${i}`)] }));
    expect(stateAt(same(4), 4 * SEC)).toBe('HEALTHY');
    expect(coditect.at(same(5), 4 * SEC)).toMatchObject({ state: 'STUCK', fires: ['looping'], plan: 'STUCK' });
  });

  test('context exhausted without a handoff is STUCK; with one under way it is not', () => {
    const used = (tokens_used: number, more: Partial<HeartbeatPayload> = {}): Heartbeats => [
      [0, { context: { tokens_used, tokens_max: 1000 }, ...more }],
    ];
    expect(stateAt(used(950), 0)).toBe('HEALTHY');
    expect(stateAt(used(951), 0)).toBe('STUCK');
    expect(stateAt(used(951, { activity: 'handing_off' }), 0)).toBe('HEALTHY');
  });

  test('more than three failures in a row are FAILING, three are not', () => {
    expect(
      stateAt(
        calls(3, () => true),
        3 * SEC,
      ),
    ).toBe('HEALTHY');
    expect(
      coditect.at(
        calls(4, () => true),
        3 * SEC,
      ),
    ).toMatchObject({ state: 'FAILING', plan: 'FAILING' });
  });

  test('an open breaker is FAILING, a half-open one is not', () => {
    const breaker = (state: 'OPEN' | 'HALF_OPEN'): Heartbeats => [
      [0, { breakers: [{ name: 'external_api', state, failures: 3, next_attempt_at: null }] }],
    ];
    expect(stateAt(breaker('OPEN'), 0)).toBe('FAILING');
    expect(stateAt(breaker('HALF_OPEN'), 0)).toBe('HEALTHY');
  });

  test('an unrecoverable error is FAILING; a limit exceeded while alive, too', () => {
    const error = (error_class: string): Heartbeats => [
      [0, { errors: [{ at: T0, count: 1, error_class, hash: 'h', message: null }] }],
    ];
    expect(stateAt(error('authentication_error'), 0)).toBe('FAILING');
    expect(stateAt(error('timeout'), 0)).toBe('HEALTHY');
    expect(stateAt([[0, { limits: [{ name: 'memory', used: 2, max: 1 }] }]], 0)).toBe('FAILING');
  });
});

describe('section 2: heartbeat and progress', () => {
  test('a heartbeat is awaited for 600 s, twice its interval; then the agent is DEGRADED, not STUCK', () => {
    expect(coditect.policy.heartbeat.intervalMs).toBe(300 * SEC);
    expect(stateAt([[0, FREE]], 600 * SEC)).toBe('HEALTHY');
    expect(coditect.at([[0, FREE]], 600 * SEC + 1)).toEqual({ state: 'DEGRADED', fires: ['no_heartbeat'], plan: null });
    expect(stateAt([[0, FREE]], 24 * 60 * MIN)).toBe('DEGRADED');
  });

  test('no calls for 900 s is STUCK', () => {
    const heartbeats = busyAfter(
      15 * MIN,
      { tool_calls: [call('c1')], last_tool_call: null },
      { last_tool_call: null },
    );
    expect(coditect.at(heartbeats, 900 * SEC)).toMatchObject({ state: 'DEGRADED', fires: ['stale_checkpoint'] });
    expect(coditect.at(heartbeats, 900 * SEC + 1)).toMatchObject({
      state: 'STUCK',
      fires: ['no_calls', 'stale_checkpoint'],
    });
  });

  test('zero consumption is STUCK, after 15 min', () => {
    const heartbeats = busyAfter(15 * MIN, { token_count: 9, activity: 'working' }, { token_count: 9 });
    expect(coditect.at(heartbeats, 15 * MIN)).toMatchObject({ state: 'DEGRADED', fires: ['stale_checkpoint'] });
    expect(coditect.at(heartbeats, 15 * MIN + 1)).toMatchObject({
      state: 'STUCK',
      fires: ['no_tokens', 'stale_checkpoint'],
    });
  });

  test('diverse calls quiet repetition', () => {
    const unless = (name: string) =>
      coditect.policy.uses.find((use) => use.name === name)?.unless.map((i) => coditect.policy.uses[i]?.signal);
    expect(unless('looping')).toEqual(['diverse_calls']);
  });

  describe('token consumption: a sudden spike is a potential loop, a steady rate is healthy', () => {
    /** Heartbeats of an agent that makes calls and reports its progress all the time, each minute. */
    const active = (...rates: readonly number[]): Heartbeats =>
      using(...rates).map(([ms, used], i) => {
        const last_tool_call = T0 + ms;
        return [ms, { ...used, last_tool_call, progress_indicator: `${i} of 40` }] as const;
      });
    const USUAL = [1000, 1000, 1000, 1000, 1000] as const;
    const after = (...rates: readonly number[]) => {
      const heartbeats = active(...rates);
      return coditect.at(heartbeats, heartbeats.at(-1)?.[0] ?? 0);
    };

    test('a fifty-fold spike is DEGRADED though calls and progress continue, and five times the usual use is not', () => {
      expect(after(...USUAL, 50_000)).toMatchObject({ state: 'DEGRADED', fires: ['token_spike'] });
      expect(after(...USUAL, 50_000, 1000, 1000, 1000)).toMatchObject({ state: 'DEGRADED' });
      expect(after(...USUAL, 5000)).toMatchObject({ state: 'HEALTHY' });
    });

    test('four steady rates after the spike are healthy; uneven ones are not', () => {
      expect(after(...USUAL, 50_000, 1000, 1000, 1000, 1000)).toMatchObject({ state: 'HEALTHY' });
      expect(after(...USUAL, 50_000, 1000, 1000, 1000, 3000)).toMatchObject({ state: 'DEGRADED' });
    });
  });
});

test('"within five minutes" counts from the crossing: the state is announced within a tick of it', () => {
  const agent = given(agentHealth(presetsWith('coditect')), T0);
  agent.receive(heartbeat(0, { tool_calls: [call('c1')] }));
  agent.receive(heartbeat(10 * MIN), T0 + 10 * MIN);
  expect(JSON.stringify(agent.passTo(T0 + 15 * MIN))).not.toContain('STUCK');
  expect(agent.passTo(T0 + 15 * MIN + SEC)).toContainEqual(
    expect.objectContaining({
      type: 'HEALTH_STATE_CHANGED',
      payload: expect.objectContaining({ from: 'DEGRADED', to: 'STUCK', onsetAt: T0 + 15 * MIN + 1 }),
    }),
  );
});

test('an agent without a task that reports none of this is healthy while it sends heartbeats', () => {
  expect(coditect.at(silentAfter(60 * MIN, FREE, FREE), 60 * MIN)).toEqual({ state: 'HEALTHY', fires: [], plan: null });
});

describe('the agent of CODITECT, with its eight fields only', () => {
  const eight = (ms: number, more: (at: number) => Partial<HeartbeatPayload>): Heartbeats =>
    Array.from({ length: Math.floor(ms / MIN) + 1 }, (_, i) => [i * MIN, { task_id: 'T', ...more(i * MIN) }]);

  test('works for hours without a checkpoint: DEGRADED after 10 min, STUCK after 30', () => {
    const works = eight(60 * MIN, (at) => ({ last_tool_call: T0 + at, token_count: 100 + at }));
    expect(stateAt(works.slice(0, 11), 10 * MIN)).toBe('HEALTHY');
    expect(stateAt(works.slice(0, 11), 10 * MIN + 1)).toBe('DEGRADED');
    expect(stateAt(works.slice(0, 31), 30 * MIN + 1)).toBe('STUCK');
  });

  test('counts no token at all: STUCK after 15 min; an unknown count is not zero', () => {
    const zero = (token_count: number | null) =>
      eight(15 * MIN, (at) => ({ last_tool_call: T0 + at, token_count, activity: 'working' }));
    expect(coditect.at(zero(0), 15 * MIN).fires).not.toContain('no_tokens');
    expect(coditect.at(zero(0), 15 * MIN + 1)).toMatchObject({ state: 'STUCK', plan: 'STUCK' });
    expect(coditect.at(zero(0), 15 * MIN + 1).fires).toContain('no_tokens');
    expect(coditect.at(zero(null), 15 * MIN + 1).fires).not.toContain('no_tokens');
  });

  test('it falls silent before its first call: STUCK', () => {
    const silent: Heartbeats = [[0, { task_id: 'T', last_tool_call: null, activity: 'working' }]];
    expect(coditect.at(silent, 15 * MIN).fires).not.toContain('no_calls');
    expect(coditect.at(silent, 15 * MIN + 1).fires).toContain('no_calls');
    expect(coditect.at(silent, 15 * MIN + 1).state).toBe('STUCK');
  });

  test('under vigil all of this is unknown, and stays quiet', () => {
    const vigil = preset('vigil');
    const works = eight(24 * MIN, (at) => ({ last_tool_call: T0 + at, token_count: 0, error_count: at / MIN }));
    expect(vigil.at(works, 24 * MIN)).toEqual({ state: 'HEALTHY', fires: [], plan: null });
  });
});
