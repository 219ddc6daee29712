import { describe, expect, test } from 'vitest';
import { call, type HeartbeatPayload, T0 } from '../fixture.ts';
import type { Heartbeats } from '../signals/testing/case.ts';
import { preset, SEC } from './judging.fixture.ts';

/** CODITECT, section 1: an error rate above 25 %, of agents that count their errors and report calls in different ways. */
const coditect = preset('coditect');
const stateAt = (heartbeats: Heartbeats, ms: number) => coditect.at(heartbeats, ms).state;

test('counts errors: a quarter of its calls is HEALTHY, more is DEGRADED', () => {
  const counts = (errors: number) =>
    Array.from({ length: 9 }, (_, i): Heartbeats[number] => [
      i * SEC,
      { task_id: 'T', last_tool_call: T0 + i * SEC, error_count: i < 8 ? 0 : errors },
    ]);
  expect(stateAt(counts(2), 8 * SEC)).toBe('HEALTHY');
  expect(coditect.at(counts(3), 8 * SEC)).toMatchObject({ state: 'DEGRADED', fires: ['reported_errors'] });
});

test('errors count against steps where it reports steps, and against calls where it reports calls', () => {
  const steps = (total: number, error_count: number): Heartbeats => [
    [0, { steps: { total_steps: 0, verdicts: [] } }],
    [SEC, { steps: { total_steps: total, verdicts: [] }, error_count }],
  ];
  expect(coditect.at(steps(20, 5), SEC).fires).toEqual([]);
  expect(coditect.at(steps(20, 6), SEC).fires).toEqual(['reported_errors']);
  const made = (error_count: number): Heartbeats => [
    [0, {}],
    [SEC, { tool_calls: Array.from({ length: 8 }, (_, i) => call(`c${i}`, { args_hash: `${i}` })), error_count }],
  ];
  expect(coditect.at(made(2), SEC).fires).not.toContain('reported_errors');
  expect(coditect.at(made(3), SEC).fires).toContain('reported_errors');
});

describe('reports only its running call, and counts errors', () => {
  /** A heartbeat for each of `n` calls; every `every`th fails. */
  const runs = (n: number, every: number, fields: (i: number) => Partial<HeartbeatPayload>): Heartbeats =>
    Array.from({ length: n }, (_, i) => [i * SEC, { task_id: 'T', error_count: Math.floor(i / every), ...fields(i) }]);
  const running = (i: number) => call(`c${i}`, { args_hash: `${i}`, result_hash: null, outcome: 'running' });
  const WAYS: Readonly<Record<string, (i: number) => Partial<HeartbeatPayload>>> = {
    'with the time of its last call': (i) => ({ tool_calls: [running(i)], last_tool_call: T0 + i * SEC }),
    'under one name, with the time of its last call': (i) => ({
      tool_calls: [{ ...running(i), call_id: 'current' }],
      last_tool_call: T0 + i * SEC,
    }),
    'without the time of its last call': (i) => ({ tool_calls: [running(i)] }),
    'beside its steps': (i) => ({
      tool_calls: [running(i)],
      steps: { total_steps: i, verdicts: [] },
    }),
  };
  const errorsAt = (heartbeats: Heartbeats) => {
    const { state, fires } = coditect.at(heartbeats, (heartbeats.length - 1) * SEC);
    return [state, fires.includes('reported_errors')];
  };

  test.each(Object.entries(WAYS))('%s: a quarter of the calls is HEALTHY, more is DEGRADED', (_, fields) => {
    expect(errorsAt(runs(41, 4, fields))).toEqual(['HEALTHY', false]);
    expect(errorsAt(runs(41, 3, fields))).toEqual(['DEGRADED', true]);
  });

  test.each(Object.entries(WAYS))('%s: the same call in each heartbeat is one call', (_, fields) => {
    const same = runs(41, 4, () => fields(0));
    expect(errorsAt(same)).toEqual(['DEGRADED', true]);
  });
});

test('a call that is reported at its start and at its end is one call', () => {
  const heartbeats = (every: number): Heartbeats =>
    Array.from({ length: 20 }, (_, i) => i).flatMap((i): Heartbeats => {
      const one = { args_hash: `${i}`, result_hash: null };
      const error_count = Math.floor((i + 1) / every);
      return [
        [
          2 * i * SEC,
          { tool_calls: [call(`c${i}`, { ...one, outcome: 'running' })], error_count: Math.floor(i / every) },
        ],
        [(2 * i + 1) * SEC, { tool_calls: [call(`c${i}`, { ...one, outcome: 'ok' })], error_count }],
      ];
    });
  expect(coditect.at(heartbeats(4), 39 * SEC).fires).not.toContain('reported_errors');
  expect(coditect.at(heartbeats(3), 39 * SEC).fires).toContain('reported_errors');
});

test('several calls that were begun before the first end count once each', () => {
  const begun = Array.from({ length: 8 }, (_, i) => call(`c${i}`, { args_hash: `${i}`, outcome: 'running' }));
  const ends = begun.map((one) => ({ ...one, outcome: 'ok' as const }));
  const after = (error_count: number): Heartbeats => [
    [0, {}],
    [SEC, { tool_calls: begun }],
    [2 * SEC, { tool_calls: ends.slice(0, 2) }],
    [3 * SEC, { tool_calls: ends.slice(2), error_count }],
  ];
  expect(coditect.at(after(3), 3 * SEC).fires).toContain('reported_errors');
  expect(coditect.at(after(2), 3 * SEC).fires).not.toContain('reported_errors');
});

test('a count that is there from the first heartbeat is not new', () => {
  expect(coditect.at([[0, { error_count: 500 }]], 0).state).toBe('HEALTHY');
});

describe('of an agent that reports its ended calls, `last_tool_call`', () => {
  /** Eight calls. A second heartbeat after each of them has only the time of the last call, `lag` after that call's end. */
  const after = (errors: number, lag: number): Heartbeats =>
    Array.from({ length: 8 }, (_, i) => i).flatMap((i): Heartbeats => {
      const error_count = Math.max(0, errors - 7 + i);
      return [
        [2 * i * SEC, { tool_calls: [call(`c${i}`, { args_hash: `${i}`, result_hash: null })], error_count }],
        [(2 * i + 1) * SEC, { last_tool_call: T0 + 2 * i * SEC + lag, error_count }],
      ];
    });
  const fires = (errors: number, lag: number) =>
    coditect.at(after(errors, lag), 15 * SEC).fires.includes('reported_errors');

  test('with the time of one of them is not another call: three errors in eight calls are more than a quarter', () => {
    expect([2, 3].map((errors) => fires(errors, 0))).toEqual([false, true]);
  });

  test('with a later time is another call: four errors in sixteen calls are a quarter', () => {
    expect([3, 4, 5].map((errors) => fires(errors, 500))).toEqual([false, false, true]);
  });
});
