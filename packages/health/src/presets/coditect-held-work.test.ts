import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRESETS } from '@vigil/policy';
import { given } from '@vigil/stream/testing';
import { describe, expect, test } from 'vitest';
import { agentHealth } from '../evaluator/health.ts';
import { call, type HeartbeatPayload, heartbeat, policyOf, T0 } from '../fixture.ts';
import type { Heartbeats } from '../signals/testing/case.ts';
import { MIN, output, preset, SEC } from './judging.fixture.ts';

/** CODITECT: "If there is work on your Hook, YOU MUST RUN IT" (GUPP). */
const coditect = preset('coditect');

test('work that is held and never begun is STUCK (GUPP)', () => {
  const held: Heartbeats = [[0, { task_id: 'T', last_tool_call: null, activity: 'idle' }]];
  expect(coditect.at(held, 15 * MIN).fires).not.toContain('not_started');
  const over = coditect.at(held, 15 * MIN + 1);
  expect(over).toMatchObject({ state: 'STUCK', plan: 'STUCK' });
  expect(over.fires).toContain('not_started');
});

test('it is STUCK by itself, and not only by the calls that are missing', () => {
  const text = readFileSync(join(PRESETS, 'coditect.yaml'), 'utf8');
  const patient = policyOf(text.replace('no_calls: { after: 900s', 'no_calls: { after: 24h'));
  const agent = given(agentHealth(patient), T0);
  agent.receive(heartbeat(0, { task_id: 'T', last_tool_call: null, activity: 'idle' }), T0);
  const states = (ms: number) =>
    agent.passTo(T0 + ms).flatMap((one) => (one.type === 'HEALTH_STATE_CHANGED' ? [one.payload.to] : []));
  expect(states(15 * MIN)).not.toContain('STUCK');
  expect(states(15 * MIN + SEC)).toEqual(['STUCK']);
});

test('held work is STUCK at an idle prompt, too: the work must run', () => {
  for (const kind of ['prompt', null] as const) {
    const waiting_for = kind === null ? null : { kind, text: null, since: T0 };
    const held: Heartbeats = [[0, { task_id: 'T', last_tool_call: null, activity: 'awaiting_input', waiting_for }]];
    expect(coditect.at(held, 15 * MIN).fires).not.toContain('not_started');
    const over = coditect.at(held, 15 * MIN + 1);
    expect(over.state).toBe('STUCK');
    expect(over.fires).toContain('not_started');
  }
});

test('held work is not STUCK while a person can answer a question, and counts from the answer', () => {
  const held = { task_id: 'T', last_tool_call: null };
  const waiting_for = { kind: 'permission', text: 'Write?', since: T0 } as const;
  const asks: Heartbeats = [[0, { ...held, activity: 'awaiting_input', waiting_for }]];
  expect(coditect.at(asks, 60 * MIN).fires).not.toContain('not_started');
  const prompt = { kind: 'prompt', text: null, since: T0 + 10 * MIN } as const;
  for (const after of [
    { activity: 'idle', waiting_for: null },
    { activity: 'awaiting_input', waiting_for: prompt },
  ] as const) {
    const answered: Heartbeats = [...asks, [10 * MIN, { ...held, ...after }]];
    expect(coditect.at(answered, 25 * MIN).fires).not.toContain('not_started');
    expect(coditect.at(answered, 25 * MIN + 1).fires).toContain('not_started');
  }
});

test('work that has begun is not GUPP, however late it began', () => {
  const begun: Heartbeats = [
    [0, { task_id: 'T', last_tool_call: null, activity: 'idle' }],
    [15 * MIN, { tool_calls: [call('c1')] }],
  ];
  expect(coditect.at(begun, 15 * MIN + 1).fires).not.toContain('not_started');
});

describe('work must really have begun', () => {
  const HELD: Partial<HeartbeatPayload> = { task_id: 'T', last_tool_call: null, activity: 'idle' };
  const report = (more: Partial<HeartbeatPayload>): Heartbeats => [
    [0, { ...HELD, ...output({ last_output_at: T0 - MIN }), steps: { total_steps: 7, verdicts: [] }, error_count: 0 }],
    [MIN, { ...HELD, ...more }],
    [2 * MIN, HELD],
  ];
  const isHeld = (heartbeats: Heartbeats, ms: number) => coditect.at(heartbeats, ms).fires.includes('not_started');

  test.each<[string, Partial<HeartbeatPayload>]>([
    ['that it works', { activity: 'working' }],
    ['that it works, in another phase', { activity: 'working', phase: 'testing' }],
    ['of a progress indicator', { progress_indicator: 'almost done' }],
    ['of an error', { error_count: 1 }],
    ['of the steps that it had', { steps: { total_steps: 7, verdicts: [] } }],
  ])('a report %s is a word, and no beginning', (_, more) => {
    expect(isHeld(report(more), 15 * MIN)).toBe(false);
    expect(isHeld(report(more), 15 * MIN + 1)).toBe(true);
    expect(coditect.at(report(more), 15 * MIN + 1)).toMatchObject({ state: 'STUCK', plan: 'STUCK' });
  });

  const checkpoint = {
    ...{ checkpoint_id: 'k1', parent_id: null, uri: null, sha256: null, valid: null, invalid_reason: null },
    ...{ created_at: T0 + MIN, completed_work: [], remaining_work: [] },
  };
  test.each<[string, Partial<HeartbeatPayload>]>([
    ['a changed last_tool_call', { last_tool_call: T0 + MIN }],
    ['a greater token_count', { token_count: 1 }],
    ['a call', { tool_calls: [call('c1')] }],
    ['a checkpoint', { checkpoint }],
    ['a step', { steps: { total_steps: 8, verdicts: [] } }],
    ['new output', output({ last_output_at: T0 + MIN })],
  ])('%s is a beginning', (_, more) => {
    expect(isHeld(report(more), 60 * MIN)).toBe(false);
  });

  test('an agent that alternates between idle and working has not begun', () => {
    const alternates = Array.from({ length: 30 }, (_, i): Heartbeats[number] => [
      i * MIN,
      { ...HELD, activity: i % 2 === 0 ? 'working' : 'idle' },
    ]);
    expect(isHeld(alternates.slice(0, 16), 15 * MIN)).toBe(false);
    expect(isHeld(alternates.slice(0, 16), 15 * MIN + 1)).toBe(true);
    expect(isHeld(alternates, 29 * MIN)).toBe(true);
  });

  test('the next task counts from the time at which the agent takes it', () => {
    const next: Heartbeats = [...report({ tool_calls: [call('c1')] }), [20 * MIN, { ...HELD, task_id: 'T-2' }]];
    expect(isHeld(next, 35 * MIN)).toBe(false);
    expect(isHeld(next, 35 * MIN + 1)).toBe(true);
  });

  test('an agent that reports its end holds nothing that must run', () => {
    expect(isHeld([...report({}), [10 * MIN, { ...HELD, activity: 'finished' }]], 60 * MIN)).toBe(false);
  });

  test('under vigil a report that it works is a beginning, because its calls may be unknown', () => {
    const vigil = preset('vigil');
    const isLate = (more: Partial<HeartbeatPayload>) => {
      const heartbeats: Heartbeats = [
        [0, HELD],
        [MIN, { ...HELD, ...more }],
        [2 * MIN, HELD],
      ];
      return vigil.at(heartbeats, 40 * MIN).fires.includes('not_started');
    };
    expect(isLate({ activity: 'working' })).toBe(false);
    expect(isLate({ progress_indicator: '1 of 3' })).toBe(false);
    expect(isLate({})).toBe(true);
  });
});

describe('held work that has begun must run, too', () => {
  const BEGUN: Heartbeats[number] = [0, { task_id: 'T', tool_calls: [call('c1')] }];
  const prompt = { kind: 'prompt', text: null, since: null } as const;
  const WAYS: readonly (readonly [string, Partial<HeartbeatPayload>])[] = [
    ['idles', { activity: 'idle' }],
    ['waits at its prompt', { activity: 'awaiting_input', waiting_for: prompt }],
    ['waits for input that nothing describes', { activity: 'awaiting_input', waiting_for: null }],
  ];

  test.each(WAYS)('no calls for 900 s are STUCK where the agent %s with its task', (_, rests) => {
    const heartbeats: Heartbeats = [BEGUN, [MIN, { task_id: 'T', ...rests }]];
    expect(coditect.at(heartbeats, 15 * MIN).fires).not.toContain('no_calls');
    expect(coditect.at(heartbeats, 15 * MIN + 1).fires).toContain('no_calls');
  });

  test.each(WAYS)('an agent without a task that %s is healthy', (_, rests) => {
    const free = { task_id: null, ...rests };
    const reports = Array.from({ length: 13 }, (_, i): Heartbeats[number] => [(i + 1) * 5 * MIN, free]);
    expect(coditect.at([BEGUN, ...reports], 65 * MIN)).toEqual({ state: 'HEALTHY', fires: [], plan: null });
  });

  test.each(WAYS)('its absences count from the task that it takes after it %s', (_, rests) => {
    const heartbeats: Heartbeats = [
      BEGUN,
      [MIN, { task_id: null, ...rests }],
      [30 * MIN, { task_id: 'T-2', ...rests }],
      [31 * MIN, { task_id: 'T-2', activity: 'working' }],
    ];
    expect(coditect.at(heartbeats, 45 * MIN).fires).not.toContain('no_calls');
    expect(coditect.at(heartbeats, 45 * MIN + 1).fires).toContain('no_calls');
  });

  test('an open permission request excuses it, and only the time of the request is left out', () => {
    const waiting_for = { kind: 'permission', text: 'Write?', since: T0 } as const;
    const asks: Heartbeats = [BEGUN, [MIN, { task_id: 'T', activity: 'awaiting_input', waiting_for }]];
    expect(coditect.at(asks, 60 * MIN).fires).not.toContain('no_calls');
    const answered: Heartbeats = [...asks, [60 * MIN, { task_id: 'T', activity: 'working' }]];
    expect(coditect.at(answered, 74 * MIN).fires).not.toContain('no_calls');
    expect(coditect.at(answered, 74 * MIN + 1).fires).toContain('no_calls');
  });
});

describe('a hand-off', () => {
  const hands = (n: number): Heartbeats =>
    Array.from({ length: n }, (_, i) => [
      i * 5 * MIN,
      { task_id: 'T', tool_calls: i === 0 ? [call('c1')] : [], activity: i % 2 === 0 ? 'working' : 'handing_off' },
    ]);

  test('excuses an agent for ten minutes once a task, however often it reports one', () => {
    // handed off from 5 to 10, 15 to 20, 25 to 30 … min: only the first is left out
    expect(coditect.at(hands(5), 20 * MIN).fires).not.toContain('no_calls');
    expect(coditect.at(hands(5), 20 * MIN + 1).fires).toContain('no_calls');
    expect(coditect.at(hands(20), 95 * MIN).fires).toContain('no_calls');
  });

  test('excuses an exhausted context for as long, once a task', () => {
    const context = { tokens_used: 960, tokens_max: 1000 };
    const full = hands(6).map(([ms, more]): Heartbeats[number] => [ms, { ...more, context }]);
    expect(coditect.at(full.slice(0, 4), 15 * MIN).fires).not.toContain('context_exhausted');
    expect(coditect.at(full.slice(0, 4), 15 * MIN + 1).fires).toContain('context_exhausted');
    expect(coditect.at(full, 25 * MIN).fires).toContain('context_exhausted');
  });
});
