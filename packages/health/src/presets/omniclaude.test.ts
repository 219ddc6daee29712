import { describe, expect, test } from 'vitest';
import { call, T0 } from '../fixture.ts';
import { MIN, preset, SEC } from './judging.fixture.ts';

const omniclaude = preset('omniclaude');
const bash = (timeoutMs: number, more = {}) =>
  call('b1', { tool: 'Bash', started_at: T0, ended_at: T0, deadline_at: T0 + timeoutMs, ...more });
const context = (used: number) => ({ context: { tokens_used: used, tokens_max: 100_000 } });
const LIMITED = {
  errors: [{ at: T0, count: 1, error_class: 'rate_limit', hash: null, message: '429 Too Many Requests' }],
};

describe('four heuristics', () => {
  test('inactivity: no call for more than 2 minutes', () => {
    const heartbeats = [[0, { tool_calls: [call('c1')] }]] as const;
    expect(omniclaude.at(heartbeats, 2 * MIN).state).toBe('HEALTHY');
    expect(omniclaude.at(heartbeats, 2 * MIN + 1)).toEqual({ state: 'STUCK', fires: ['no_calls'], plan: 'no_calls' });
  });

  test.each([
    ['of exactly 120 s extends nothing', 120 * SEC, 2 * MIN],
    ['above 120 s: that and 60 s more', 121 * SEC, 181 * SEC],
    ['of ten minutes: eleven', 10 * MIN, 11 * MIN],
  ])('Bash long timeout %s', (_, timeout, limit) => {
    const done = [[0, { tool_calls: [bash(timeout)] }]] as const;
    const running = [[0, { tool_calls: [bash(timeout, { outcome: 'running', ended_at: null })] }]] as const;
    for (const heartbeats of [done, running]) {
      expect(omniclaude.at(heartbeats, limit).state).toBe('HEALTHY');
      expect(omniclaude.at(heartbeats, limit + 1).state).toBe('STUCK');
    }
  });

  test.each([
    ['5 s', 5 * SEC, 11 * MIN],
    ['9 min', 9 * MIN, 11 * MIN],
    ['10 min', 10 * MIN, 12 * MIN],
  ])(
    'of ten minutes counts from the call, also where it ended after %s: eleven, or two after its end',
    (_, ran, limit) => {
      const running = bash(10 * MIN, { outcome: 'running', ended_at: null });
      const ended = bash(10 * MIN, { ended_at: T0 + ran });
      const heartbeats = [
        [0, { tool_calls: [running] }],
        [ran, { tool_calls: [ended] }],
      ] as const;
      expect(omniclaude.at(heartbeats, limit).state).toBe('HEALTHY');
      expect(omniclaude.at(heartbeats, limit + 1).state).toBe('STUCK');
    },
  );

  test('the long timeout of another tool does not exempt the agent once that tool has ended', () => {
    const heartbeats = [[0, { tool_calls: [bash(10 * MIN, { tool: 'Read' })] }]] as const;
    expect(omniclaude.at(heartbeats, 2 * MIN + 1).state).toBe('STUCK');
  });

  test('context overflow: above 80 %, not at it', () => {
    expect(omniclaude.at([[0, context(80_000)]], 1).state).toBe('HEALTHY');
    expect(omniclaude.at([[0, context(80_001)]], 1)).toMatchObject({ state: 'STUCK', plan: 'context_exhausted' });
  });

  test('context overflow: above 80 % while a handoff is under way, too', () => {
    const handing = { ...context(80_001), activity: 'handing_off', handoff: 'notes are in NOTES.md' } as const;
    expect(omniclaude.at([[0, handing]], 1)).toMatchObject({ state: 'STUCK', plan: 'context_exhausted' });
  });

  test('rate limit: any such error, at once', () => {
    expect(omniclaude.at([[0, LIMITED]], 0)).toMatchObject({ state: 'STUCK', plan: 'rate_limited' });
  });
});

describe('rulings', () => {
  test('"rate" inside a word is not a rate limit', () => {
    const error = { at: T0, count: 1, error_class: null, hash: 'h', message: 'could not generate 429 lines' };
    expect(omniclaude.at([[0, { errors: [error] }]], 0).state).toBe('HEALTHY');
  });

  test('inactivity comes before context, context before rate limit', () => {
    const all = [[0, { ...LIMITED, ...context(90_000), tool_calls: [call('c1')] }]] as const;
    expect(omniclaude.at(all, 0).plan).toBe('context_exhausted');
    const still = [...all, [119 * SEC, { ...LIMITED, ...context(90_000) }]] as const;
    expect(omniclaude.at(still, 2 * MIN + 1)).toMatchObject({
      fires: ['context_exhausted', 'no_calls', 'rate_limited'],
      plan: 'no_calls',
    });
  });

  test.each(['no_calls', 'context_exhausted', 'rate_limited'])(
    '%s: a forced kill follows an unread shutdown_request, then a fresh agent',
    (when) => {
      expect(omniclaude.steps(when)).toEqual([
        expect.objectContaining({ step: 'terminate', graceMs: 30 * SEC, leave: 'in_progress', requires: [] }),
        { step: 'recover' },
      ]);
    },
  );

  test('a crash is dispatched again without a kill', () => {
    expect(omniclaude.steps('crashed')).toEqual([{ step: 'recover' }]);
  });

  test('two redispatches a task, however far apart, then people: Blocked and friction', () => {
    expect(omniclaude.policy.recovery).toMatchObject({
      maxAttempts: 2,
      resetAttempts: 'by_people',
      delaysMs: [0],
      jitter: 0,
      onProbationFailure: 'retry',
      emitHealthcheck: true,
    });
    expect(omniclaude.policy.files).toEqual({
      dispatchLog: '.onex_state/dispatch-log/',
      recovery: '.onex_state/pipeline_checkpoints/',
      partialState: null,
      friction: '.onex_state/friction/',
    });
  });
});

test('of an agent without a task that reports none of this nothing is announced', () => {
  expect(omniclaude.at([[0, { task_id: null, runtime_id: null }]], 60 * MIN)).toEqual({
    state: 'HEALTHY',
    fires: [],
    plan: null,
  });
});

test('an agent that never makes a first call stalls, as one that makes none any more', () => {
  const begun = [[0, { task_id: 'T', last_tool_call: null, activity: 'working' }]] as const;
  expect(omniclaude.at(begun, 2 * MIN).state).toBe('HEALTHY');
  expect(omniclaude.at(begun, 2 * MIN + 1)).toMatchObject({ state: 'STUCK', fires: ['no_calls'], plan: 'no_calls' });
});

test.each(['idle', 'handing_off', 'awaiting_input'] as const)(
  'an agent that alternates between %s and working and makes no first call stalls at the same time',
  (activity) => {
    const alternates = Array.from(
      { length: 5 },
      (_, i) => [i * 30 * SEC, { task_id: 'T', activity: i % 2 === 0 ? activity : 'working' }] as const,
    );
    expect(omniclaude.at(alternates, 2 * MIN).state).toBe('HEALTHY');
    expect(omniclaude.at(alternates, 2 * MIN + 1)).toMatchObject({ state: 'STUCK', plan: 'no_calls' });
  },
);

test('the time before the first call counts from the task, of an agent that had none', () => {
  const heartbeats = [
    [0, { task_id: null, runtime_id: null }],
    [10 * MIN, { task_id: 'T', runtime_id: null, activity: 'idle' }],
    [11 * MIN, { task_id: 'T', runtime_id: null, activity: 'working' }],
  ] as const;
  expect(omniclaude.at(heartbeats, 12 * MIN).state).toBe('HEALTHY');
  expect(omniclaude.at(heartbeats, 12 * MIN + 1)).toMatchObject({ state: 'STUCK', plan: 'no_calls' });
});

describe('the age of the last call', () => {
  const ended = (at: number) => ({ tool_calls: [call('c1', { started_at: T0, ended_at: T0 + at })] });

  test.each([
    ['its end, where it ended before the heartbeat that reports it', 50 * SEC],
    ['its end, where the heartbeat reports it at once', 60 * SEC],
  ])('counts from %s', (_, at) => {
    const heartbeats = [
      [0, {}],
      [60 * SEC, ended(at)],
    ] as const;
    expect(omniclaude.at(heartbeats, at + 2 * MIN).state).toBe('HEALTHY');
    expect(omniclaude.at(heartbeats, at + 2 * MIN + 1)).toMatchObject({ state: 'STUCK', fires: ['no_calls'] });
  });

  const prompt = { kind: 'prompt', text: null, since: null } as const;
  const WAYS: readonly (readonly [string, Parameters<typeof omniclaude.at>[0][number][1]])[] = [
    ['at an idle prompt', { activity: 'awaiting_input', waiting_for: prompt }],
    ['that awaits input and names no question', { activity: 'awaiting_input', waiting_for: null }],
    ['that is idle', { activity: 'idle' }],
    ['that hands off its work', { activity: 'handing_off' }],
    ['that works', { activity: 'working' }],
  ];

  test.each(WAYS)('is judged of an agent %s', (_, more) => {
    const heartbeats = [
      [0, { task_id: 'T', tool_calls: [call('c1')] }],
      [SEC, { task_id: 'T', ...more }],
    ] as const;
    expect(omniclaude.at(heartbeats, 2 * MIN).state).toBe('HEALTHY');
    expect(omniclaude.at(heartbeats, 2 * MIN + 1)).toMatchObject({ state: 'STUCK', plan: 'no_calls' });
  });

  test.each(WAYS)('is its time since the start before its first call, of an agent %s', (_, more) => {
    const heartbeats = [[0, { task_id: 'T', last_tool_call: null, ...more }]] as const;
    expect(omniclaude.at(heartbeats, 2 * MIN).state).toBe('HEALTHY');
    expect(omniclaude.at(heartbeats, 2 * MIN + 1)).toMatchObject({ state: 'STUCK', plan: 'no_calls' });
  });

  test.each(['permission', 'question', 'plan', 'dialog'] as const)(
    'excuses an agent that waits for a person: %s',
    (kind) => {
      const waiting = { activity: 'awaiting_input', waiting_for: { kind, text: null, since: null } } as const;
      const heartbeats = [
        [0, { task_id: 'T', tool_calls: [call('c1')] }],
        [SEC, { task_id: 'T', ...waiting }],
      ] as const;
      expect(omniclaude.at(heartbeats, 10 * MIN).state).toBe('HEALTHY');
    },
  );

  test.each(['finished', 'exiting'] as const)('is not judged of a session that has ended: %s', (activity) => {
    const heartbeats = [
      [0, { task_id: 'T', tool_calls: [call('c1')] }],
      [SEC, { task_id: 'T', activity }],
    ] as const;
    expect(omniclaude.at(heartbeats, 10 * MIN)).toEqual({ state: 'HEALTHY', fires: [], plan: null });
    const again = [...heartbeats, [60 * SEC, { task_id: 'T', activity: 'working' }]] as const;
    expect(omniclaude.at(again, 3 * MIN).state).toBe('HEALTHY');
    expect(omniclaude.at(again, 3 * MIN + 1)).toMatchObject({ state: 'STUCK', plan: 'no_calls' });
  });
});
