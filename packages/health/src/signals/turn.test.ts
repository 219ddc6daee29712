import { given } from '@vigil/stream/testing';
import { describe, expect, test } from 'vitest';
import { agentHealth } from '../evaluator/health.ts';
import { brief, call, type HeartbeatPayload, heartbeat, presetsWith, T0 } from '../fixture.ts';
import { MIN, output, preset, SEC } from '../presets/judging.fixture.ts';
import type { Heartbeats } from './testing/case.ts';

const vigil = preset('vigil');
const LIMIT = 6 * MIN;

/** A supervisor's report of a client whose last event was at `event` ms. */
const turn = (event: number, more: Partial<HeartbeatPayload> = {}): Partial<HeartbeatPayload> => ({
  reporter: 'runtime',
  activity: 'working',
  agent_heartbeat_at: T0 + event,
  turn: { open: true, started_at: T0, last_event_at: T0 + event },
  ...more,
});
const closed = { open: false, started_at: T0, last_event_at: T0 };
const read = call('c0', { tool: 'Read', started_at: T0, ended_at: T0 });
const begun: Heartbeats[number] = [0, turn(0, { tool_calls: [read] })];

/** Redraws of a spinner, or of a line about a retry, every 10 s. */
const redrawing = (until: number, more: Partial<HeartbeatPayload> = {}): Heartbeats => [
  begun,
  ...Array.from({ length: until / (10 * SEC) }, (_, i): Heartbeats[number] => {
    const ms = (i + 1) * 10 * SEC;
    return [ms, turn(0, { ...output({ last_output_at: T0 + ms, lines: i }), ...more })];
  }),
];

describe('no answer of the model', () => {
  test('for exactly the limit is healthy, and STUCK from the next millisecond', () => {
    const heartbeats: Heartbeats = [begun, [LIMIT, turn(0)]];
    expect(vigil.at(heartbeats, LIMIT).state).toBe('HEALTHY');
    expect(vigil.at(heartbeats, LIMIT + 1)).toMatchObject({ state: 'STUCK', plan: 'STUCK or FAILING' });
    expect(vigil.at(heartbeats, LIMIT + 1).fires).toContain('no_model_answer');
  });

  test('is found under demo after 8 s', () => {
    const demo = preset('demo');
    expect(demo.at([begun], 8 * SEC).fires).toEqual([]);
    expect(demo.at([begun], 8 * SEC + 1).fires).toContain('no_model_answer');
  });

  test('is found while the terminal shows a spinner or lines about retries, which are neither activity nor progress', () => {
    const hung = vigil.at(redrawing(LIMIT), LIMIT + 1);
    expect(hung).toMatchObject({ state: 'STUCK', fires: ['no_activity', 'no_model_answer'] });
    const hour = 60 * MIN;
    expect(vigil.at(redrawing(hour), hour).fires).toEqual(expect.arrayContaining(['no_model_answer', 'no_activity']));
  });

  test.each<[string, Partial<HeartbeatPayload>]>([
    ['an event of the client', turn(5 * MIN)],
    ['a call', turn(0, { tool_calls: [call('c1', { started_at: T0 + 5 * MIN, ended_at: T0 + 5 * MIN })] })],
    ['use of tokens', turn(0, { token_count: 900 })],
  ])('is over with %s', (_, more) => {
    const tokens = { token_count: more.token_count ?? 100 };
    const heartbeats: Heartbeats = [
      begun,
      [4 * MIN, turn(0, { token_count: 100 })],
      [5 * MIN, { token_count: 100, ...more }],
    ];
    expect(vigil.at(heartbeats, 5 * MIN + LIMIT).fires).not.toContain('no_model_answer');
    expect(
      vigil.at(
        [...heartbeats, [5 * MIN + LIMIT, { ...turn(0), ...more, tool_calls: [], ...tokens }]],
        5 * MIN + LIMIT + 1,
      ).fires,
    ).toContain('no_model_answer');
  });

  test('is unknown without a reported turn, and no answer is awaited once the turn is over', () => {
    const { turn: _, ...unknown } = turn(0);
    expect(vigil.at([[0, { ...unknown, tool_calls: [read] }]], 24 * 60 * MIN).fires).not.toContain('no_model_answer');
    expect(vigil.at([begun, [MIN, turn(0, { turn: closed })]], 24 * 60 * MIN).fires).not.toContain('no_model_answer');
    expect(vigil.at([begun, [LIMIT + 1, turn(0, { turn: closed })]], LIMIT + 1).fires).not.toContain('no_model_answer');
  });

  test('is not awaited while a call is in flight; the time counts from its end', () => {
    const runs = call('c1', { outcome: 'running', started_at: T0 + MIN, deadline_at: null });
    const heartbeats: Heartbeats = [begun, [MIN, turn(MIN, { tool_calls: [runs] })], [20 * MIN, turn(MIN)]];
    expect(vigil.at(heartbeats, 20 * MIN).state).toBe('HEALTHY');
    for (const outcome of ['ok', 'error', 'refused', 'abandoned'] as const) {
      const ends: Heartbeats[number] = [
        20 * MIN,
        turn(20 * MIN, { tool_calls: [{ ...runs, outcome, ended_at: T0 + 20 * MIN, result_hash: null }] }),
      ];
      expect(vigil.at([...heartbeats, ends], 26 * MIN).fires).not.toContain('no_model_answer');
      expect(vigil.at([...heartbeats, ends], 26 * MIN + 1).fires).toContain('no_model_answer');
    }
  });

  test.each(['awaiting_input', 'paused', 'rate_limited'] as const)('does not count while it is %s', (activity) => {
    const limited = activity === 'rate_limited' ? { rate_limit: { retry_at: T0 + 30 * MIN } } : {};
    const rests = [1, 10, 20].map((minute): Heartbeats[number] => [minute * MIN, turn(MIN, { activity, ...limited })]);
    const heartbeats: Heartbeats = [begun, ...rests];
    expect(vigil.at(heartbeats, 30 * MIN).fires).not.toContain('no_model_answer');
    const works: Heartbeats[number] = [30 * MIN, turn(MIN)];
    expect(vigil.at([...heartbeats, works], 36 * MIN).fires).not.toContain('no_model_answer');
    expect(vigil.at([...heartbeats, works], 36 * MIN + 1).fires).toContain('no_model_answer');
  });

  test('does not count unwatched time', () => {
    const agent = given(agentHealth(presetsWith('demo')), T0);
    agent.receive(heartbeat(0, turn(0, { tool_calls: [read] })));
    agent.unwatched(3_600_000);
    expect(brief(agent.passTo(T0 + 3_608_000))).not.toContain('HEALTHY → STUCK');
    expect(brief(agent.passTo(T0 + 3_608_001))).toContain('HEALTHY → STUCK');
  });
});

describe('a call without a declared deadline', () => {
  const agentCall = call('c1', { tool: 'Agent', outcome: 'running', started_at: T0 });
  const working = (minutes: number): Heartbeats => [
    [0, turn(0, { tool_calls: [agentCall] })],
    ...Array.from({ length: minutes / 5 }, (_, i): Heartbeats[number] => [(i + 1) * 5 * MIN, turn((i + 1) * 5 * MIN)]),
  ];

  test('that starts a sub-agent is not overdue while the sub-agent works', () => {
    expect(vigil.at(working(120), 120 * MIN).fires).not.toContain('call_overdue');
    expect(vigil.at(working(120), 120 * MIN).state).not.toBe('STUCK');
  });

  test('is overdue once the client has reported nothing for as long as such a call is expected to last', () => {
    expect(vigil.at(working(60), 91 * MIN).fires).not.toContain('call_overdue');
    expect(vigil.at(working(60), 91 * MIN + 1).fires).toContain('call_overdue');
  });

  test('that waited for a permission gets its full time without the wait, and its silence is excused until then', () => {
    const asks: Heartbeats[number] = [SEC, turn(0, { activity: 'awaiting_input' })];
    const given = [60, 70, 80].map((minute): Heartbeats[number] => [minute * MIN, turn(0)]);
    const heartbeats: Heartbeats = [[0, turn(0, { tool_calls: [agentCall] })], asks, ...given];
    const over = 91 * MIN - SEC;
    expect(vigil.at(heartbeats, over).state).toBe('HEALTHY');
    expect(vigil.at(heartbeats, over + 1).fires).toContain('call_overdue');
  });

  test('that declares its deadline is overdue, also when the client reports other activity', () => {
    const declared = { ...agentCall, deadline_at: T0 + 10 * MIN };
    const heartbeats: Heartbeats = [[0, turn(0, { tool_calls: [declared] })], ...working(10).slice(1)];
    expect(vigil.at(heartbeats, 11 * MIN + 1).fires).toContain('call_overdue');
  });
});

test('output counts as activity once the turn is over', () => {
  const heartbeats: Heartbeats = [
    begun,
    [MIN, turn(0, { turn: closed })],
    [5 * MIN, turn(0, { turn: closed, ...output({ last_output_at: T0 + 5 * MIN, lines: 1 }) })],
  ];
  expect(vigil.at(heartbeats, 11 * MIN).fires).not.toContain('no_activity');
  expect(vigil.at(heartbeats, 11 * MIN + 1).fires).toContain('no_activity');
});

test('a client that draws a screen and has reported only its start may be at its prompt, so its silence is unknown until a turn begins', () => {
  const drawn = output({ last_output_at: null, lines: null });
  const atStart = (more: Partial<HeartbeatPayload> = {}) =>
    turn(0, { activity: 'starting', turn: null, ...drawn, ...more });
  expect(vigil.at([[0, atStart()]], 24 * 60 * MIN).fires).not.toContain('no_activity');
  const prints = output({ last_output_at: null, lines: 0 });
  expect(vigil.at([[0, atStart(prints)]], 24 * 60 * MIN).fires).toContain('no_activity');
  const begins: Heartbeats = [
    [0, atStart()],
    [60 * MIN, turn(60 * MIN, drawn)],
  ];
  expect(vigil.at(begins, 60 * MIN + LIMIT).fires).not.toContain('no_activity');
  expect(vigil.at(begins, 60 * MIN + LIMIT + 1).fires).toContain('no_activity');
});
