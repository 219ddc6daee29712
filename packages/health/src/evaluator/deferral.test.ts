import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { laws } from '@vigil/stream/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { at, call, type HeartbeatPayload, heartbeat, policyOf, presetsWith, T0 } from '../fixture.ts';
import { output } from '../presets/judging.fixture.ts';
import { SIGNALS } from '../signals/all.ts';
import { CASES } from '../signals/testing/cases.ts';
import { Folding } from './evaluate.ts';
import { agentHealth, type Observation } from './health.ts';
import { type AgentState, UNSEEN } from './state.ts';

/** Every signal of every case makes a state by itself, including counter-evidence. */
const everything = agentHealth(
  policyOf(
    JSON.stringify({
      policy: 'all',
      signals: Object.fromEntries(Object.entries(CASES).map(([name, { limits }]) => [name, limits])),
      states: { STUCK: Object.keys(SIGNALS) },
      plans: [{ when: 'STUCK', do: ['alert'] }],
    }),
  ),
);

/** An agent that continues its work: each of its reports is routine. */
const sent = fc.integer({ min: -5, max: 60 }).map((s) => T0 + s * 1000);
const calls = fc
  .record({
    tool: fc.constantFrom('bash', 'read'),
    args_hash: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'),
    result_hash: fc.constantFrom('r', 's', 't'),
    target: fc.constantFrom('a.ts', null),
    ended_at: fc.option(sent),
    deadline_at: fc.constantFrom(null, T0 + 400_000),
  })
  .map((more) => call('c', more));
const routine = fc
  .record(
    {
      activity: fc.constant('working' as const),
      token_count: fc.integer({ min: 0, max: 60 }).map((n) => n * n * 50),
      last_tool_call: sent,
      progress_indicator: fc.constantFrom('1', '1', '1', '2'),
      context: fc.record({ tokens_used: fc.integer({ min: 0, max: 100 }), tokens_max: fc.constant(100) }),
      output: fc.record({
        last_output_at: sent,
        lines: fc.constantFrom(10, 70),
        matched_patterns: fc.constantFrom([], [{ kind: 'error', source: 'tool_use ids', at: T0, line: null }]),
        shown_errors: fc.constant([]),
        repeated_error: fc.constant(null),
        result_at: fc.constantFrom(null, T0 + 20_000),
        completion_signal_at: fc.constant(null),
        tail: fc.constant([]),
      }),
      tool_calls: fc.array(calls, { maxLength: 2 }),
      reporter: fc.constantFrom('agent' as const, 'runtime' as const),
    },
    { requiredKeys: ['token_count', 'last_tool_call', 'activity'] },
  )
  .map((more: Partial<HeartbeatPayload>) => heartbeat(0, more));

describe('a heartbeat that is routine', () => {
  test('leaves nothing to announce, with every signal in use', () => laws(everything, routine, { runs: 400 }), 120_000);

  test.each(['vigil', 'coditect', 'botbox', 'gascity', 'omniclaude', 'hive', 'demo'])(
    'leaves nothing to announce under %s',
    (preset) => laws(agentHealth(presetsWith(preset)), routine, { runs: 100 }),
    120_000,
  );
});

const decider = agentHealth(presetsWith('vigil'));
const working: Partial<HeartbeatPayload> = { activity: 'working', interval_ms: 10_000 };

/** When a heartbeat of an agent that has worked for a minute is evaluated. */
const wakes = (more: Partial<HeartbeatPayload>, before: Partial<HeartbeatPayload> = {}): number => {
  let state: AgentState = UNSEEN;
  const receive = (ms: number, more: Partial<HeartbeatPayload>): number => {
    const clock = at(ms);
    const after = decider.observe(
      state,
      heartbeat(ms, { ...working, last_tool_call: T0 + ms, token_count: ms, ...more }),
      clock,
    );
    const wakesAt = decider.wakesAt(state, after, clock);
    state = decider.decide(after, clock).reduce(decider.evolve, after);
    return wakesAt - clock.now;
  };
  for (let ms = 0; ms <= 60_000; ms += 10_000) receive(ms, before);
  return receive(70_000, { ...before, ...more });
};

describe('a heartbeat of an agent at work', () => {
  test('is not evaluated at once', () => expect(wakes({})).toBeGreaterThan(0));
  test('with a new outcome of a call is not evaluated at once', () =>
    expect(wakes({ tool_calls: [call('c1', { args_hash: 'other' })] })).toBeGreaterThan(0));
  test('is evaluated by the signal of its context', () =>
    expect(wakes({ context: { tokens_used: 99, tokens_max: 100 } })).toBeLessThanOrEqual(0));

  test.each<[string, Partial<HeartbeatPayload>, Partial<HeartbeatPayload>?]>([
    ['of another task', { task_id: 'T-2' }],
    ['of another instance', { instance_id: 'a1.i2' }],
    ['that reports itself idle', { activity: 'idle' }],
    ['that comes at another interval', { interval_ms: 20_000 }],
    ['that names another policy', { policy: 'demo' }],
    ['of a call in flight', { tool_calls: [call('c1', { outcome: 'running' })] }],
    ['of a failed call', { tool_calls: [call('c1', { outcome: 'error' })] }],
    ['of an error', { errors: [{ at: T0, count: 1, error_class: 'HTTP', hash: 'h', message: null }] }],
    ['of a rate limit', { rate_limit: { retry_at: null } }],
    ['of an answer', { handoff: 'please take over' }],
    ['of an exceeded limit', { limits: [{ name: 'memory', used: 2, max: 1 }] }],
    ['that writes checkpoints from now on', { reports_checkpoints: true }],
    ['of its first call', { last_tool_call: T0 }, { last_tool_call: null }],
  ])('%s is looked at at once', (_, more, before) => expect(wakes(more, before)).toBeLessThanOrEqual(0));
});

/** When a command about an agent that has worked for a minute is evaluated. It changes nothing else of the agent. */
const wakesByCommand = (command: Observation): number => {
  let state: AgentState = UNSEEN;
  const receive = (ms: number, input: Observation): number => {
    const clock = at(ms);
    const after = decider.observe(state, input, clock);
    const wakesAt = decider.wakesAt(state, after, clock);
    state = decider.decide(after, clock).reduce(decider.evolve, after);
    return wakesAt - clock.now;
  };
  for (let ms = 0; ms <= 60_000; ms += 10_000)
    receive(ms, heartbeat(ms, { ...working, last_tool_call: T0 + ms, token_count: ms }));
  return receive(65_000, command);
};

const asked = { agentId: 'a1', by: 'ada', why: 'a test' };
const sentTo = (event: object): Observation => ({ ...event, key: 'a1', correlationId: 'command-1' }) as Observation;

describe('a command that changes nothing of an agent at work is answered at once', () => {
  test.each([
    ['the release of an agent that is not held', example(Topic.agentObservation, 'RELEASE_AGENT', asked)],
    [
      'the reset of a breaker that is closed',
      example(Topic.agentObservation, 'RESET_BREAKER', { ...asked, name: 'tool_execution' }),
    ],
    [
      'the death of an instance that is not there',
      example(Topic.agentObservation, 'CONFIRM_DEATH', {
        ...{ ...asked, instanceId: 'another', source: 'person', groupId: null, of: 1 },
      }),
    ],
  ])('%s', (_, event) => expect(wakesByCommand(sentTo(event))).toBeLessThanOrEqual(0));

  test('a heartbeat in its place is not evaluated at once', () =>
    expect(
      wakesByCommand(heartbeat(65_000, { ...working, last_tool_call: T0 + 65_000, token_count: 65_000 })),
    ).toBeGreaterThan(0));
});

/** When an agent that continues is first announced as unhealthy, seconds after its start: heartbeats every ten, and ticks. */
const foundAt = (signals: object, more: (ms: number) => Partial<HeartbeatPayload>): number | null => {
  const states = { STUCK: Object.keys(signals).filter((name) => name !== 'steady_tokens') };
  const folding = new Folding(policyOf(JSON.stringify({ policy: 'p', signals, states, plans: [] })));
  for (let ms = 0; ms <= 1_800_000; ms += 10_000) {
    const input = heartbeat(ms, { ...working, last_tool_call: T0, ...more(ms) });
    const records = [
      { clock: at(ms), input },
      ...[1, 4_000, 8_000].map((tick) => ({ clock: at(ms + tick), input: null })),
    ];
    for (const record of records)
      if (folding.fold(record).emitted.some((event) => event.type === 'HEALTH_STATE_CHANGED'))
        return (record.clock.now - T0) / 1000;
  }
  return null;
};

describe('what a routine heartbeat makes due sooner is found with that heartbeat', () => {
  test('tokens used for too long without progress', () =>
    expect(foundAt({ token_burn: { for: '5m' } }, (ms) => ({ token_count: 100 + ms }))).toBe(310));

  test('tokens used far faster than usual', () =>
    expect(
      foundAt({ token_spike: {} }, (ms) => ({ token_count: 100 + (ms < 700_000 ? ms : 50 * ms - 34_300_000) })),
    ).toBe(720));

  test('the end of counter-evidence', () =>
    expect(
      foundAt({ no_output: { after: '5m', unless: 'steady_tokens' }, steady_tokens: { within: '20m' } }, (ms) => ({
        token_count: 100 + (ms < 700_000 ? ms : 50 * ms - 34_300_000),
        ...output({ last_output_at: T0 }),
      })),
    ).toBe(720));

  test('the first tokens, after which no more are used', () =>
    expect(foundAt({ no_tokens: { after: '5s' } }, (ms) => ({ token_count: ms < 70_000 ? 0 : 100 }))).toBe(78));

  test('a pattern in the output', () =>
    expect(
      foundAt({ unrecoverable_error: { patterns: ['broken'] } }, (ms) =>
        output(ms < 60_000 ? {} : { lines: 11, tail: ['it is broken'] }),
      ),
    ).toBe(60));

  test('a call, after one that allowed for a longer pause', () =>
    expect(
      foundAt({ no_calls: { after: '2m', applies_to: ['bash'], buffer: '60s', deadlines_above: '2m' } }, (ms) => {
        if (ms === 50_000) return { tool_calls: [call('c1', { deadline_at: T0 + ms + 600_000 })] };
        return { tool_calls: ms === 300_000 ? [call('c2', { tool: 'read' })] : [] };
      }),
    ).toBe(420.001));
});
