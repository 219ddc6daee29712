import { expect, test } from 'vitest';
import { call, T0 } from '../fixture.ts';
import type { Heartbeats } from '../signals/testing/case.ts';
import { MIN, preset } from './judging.fixture.ts';

/** CODITECT: "If there is work on your Hook, YOU MUST RUN IT" (GUPP). */
const coditect = preset('coditect');

test('work that is held and never begun is STUCK (GUPP)', () => {
  const held: Heartbeats = [[0, { task_id: 'T', last_tool_call: null, activity: 'idle' }]];
  expect(coditect.at(held, 15 * MIN).fires).not.toContain('not_started');
  const over = coditect.at(held, 15 * MIN + 1);
  expect(over).toMatchObject({ state: 'STUCK', plan: 'STUCK' });
  expect(over.fires).toContain('not_started');
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
