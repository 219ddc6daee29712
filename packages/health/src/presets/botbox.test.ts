import { describe, expect, test } from 'vitest';
import { call, type HeartbeatPayload, T0 } from '../fixture.ts';
import type { Heartbeats } from '../signals/testing/case.ts';
import { each, MIN, output, preset, SEC, work } from './judging.fixture.ts';

const botbox = preset('botbox');
const runtime: Partial<HeartbeatPayload> = { reporter: 'runtime', activity: 'working' };
/** Edges of an absence: at its limit, and a millisecond later. */
const edges = (heartbeats: Heartbeats, limit: number) => [limit, limit + 1].map((ms) => botbox.at(heartbeats, ms).plan);
const same = (times: number, apart: number): Heartbeats =>
  Array.from({ length: times }, (_, i) => [
    i * apart,
    {
      errors: [{ at: T0 + i * apart, count: 1, error_class: 'TypeError', hash: 'h', message: 'x is not a function' }],
    },
  ]);

describe('the table of signals', () => {
  test('no output for 15 min', () => {
    expect(edges([[0, { ...runtime, ...output({ last_output_at: T0, lines: 1 }) }]], 15 * MIN)).toEqual([
      null,
      'no_output',
    ]);
  });

  test('no completion signal within 10 min of the result', () => {
    const result = output({ result_at: T0 });
    expect(edges([[0, { ...runtime, ...result }]], 10 * MIN)).toEqual([null, 'no_completion']);
    const complete = [[0, { ...runtime, ...output({ result_at: T0, completion_signal_at: T0 }) }]] as const;
    expect(botbox.at(complete, 60 * MIN).state).toBe('HEALTHY');
  });

  test('a rate limit, for as long as it lasts', () => {
    const limited = output({ matched_patterns: [{ kind: 'rate_limit', source: 'overloaded', at: T0, line: null }] });
    expect(botbox.at([[0, { ...runtime, ...limited }]], 0)).toMatchObject({ state: 'DEGRADED', plan: 'rate_limited' });
    expect(botbox.at([[0, { ...runtime, ...limited }]], 60 * SEC).plan).toBe(null);
  });

  test('the same error five times within ten minutes: the fifth fires', () => {
    expect(botbox.at(same(4, SEC), 4 * SEC).state).toBe('HEALTHY');
    expect(botbox.at(same(5, SEC), 4 * SEC)).toMatchObject({ state: 'STUCK', plan: 'repeated_error' });
    expect(botbox.at(same(5, 2.5 * MIN), 10 * MIN).state).toBe('STUCK');
    expect(botbox.at(same(5, 2.5 * MIN + 1), 10 * MIN + 4).state).toBe('HEALTHY');
  });

  test('tokens burnt for 30 min without progress: a soft alert', () => {
    const burning = (minutes: number): Heartbeats =>
      Array.from({ length: minutes + 1 }, (_, i) => [
        i * MIN,
        { token_count: 1000 * (i + 1), ...work({ comment_count: 1 }) },
      ]);
    expect(botbox.at(burning(30), 30 * MIN).state).toBe('HEALTHY');
    expect(botbox.at(burning(31), 31 * MIN)).toMatchObject({ state: 'DEGRADED', plan: 'token_burn' });
  });

  test('a claim not refreshed for 60 min', () => {
    const claimed = [[0, { ...runtime, ...work({ claim_refreshed_at: T0 }) }]] as const;
    expect(edges(claimed, 60 * MIN)).toEqual([null, 'no_claim_refresh or same_target']);
  });

  test('spinning on the same file: the tenth read of it, alert only', () => {
    const reads = (n: number) => each(n, (i) => ({ tool_calls: [call(`c${i}`, { tool: 'Read', target: 'a.ts' })] }));
    expect(botbox.at(reads(9), 9 * SEC).plan).toBe(null);
    expect(botbox.at(reads(10), 9 * SEC)).toMatchObject({ state: 'DEGRADED', plan: 'no_claim_refresh or same_target' });
  });
});

describe('the table of actions', () => {
  const steps = (when: string) => botbox.steps(when).map(({ step }) => step);

  test('a rate limit: pause, back off for 60 s, retry; nothing is killed', () => {
    expect(botbox.steps('rate_limited')).toMatchObject([{ step: 'pause', backoffMs: 60 * SEC }]);
  });

  test('idle: kill, release the claims and the task for reassignment, post', () => {
    expect(botbox.steps('no_output')).toMatchObject([
      { step: 'terminate', leave: 'released', release: ['claims'], requires: [] },
      { step: 'alert', channel: 'ops' },
    ]);
  });

  test('completion timeout: killed, and its task left in progress for crash recovery', () => {
    expect(botbox.steps('no_completion')).toMatchObject([
      { step: 'alert', channel: 'ops' },
      { step: 'terminate', leave: 'in_progress', release: [] },
    ]);
    expect(steps('no_completion')).not.toContain('recover');
  });

  test('it kills only for idle and completion unless configured otherwise', () => {
    const killing = botbox.policy.plans.filter(({ steps }) => steps.some(({ step }) => step === 'terminate'));
    expect(killing.map(({ name }) => name)).toEqual(['no_completion', 'no_output']);
    expect(steps('repeated_error')).toEqual(['alert']);
    expect(steps('no_claim_refresh or same_target')).toEqual(['alert']);
  });

  test('token burn waits for a person, for ever', () => {
    expect(botbox.steps('token_burn')).toMatchObject([{ step: 'escalate', timeoutMs: null }]);
  });

  test('every alert goes to ops', () => {
    const channels = botbox.policy.plans.flatMap(({ steps }) =>
      steps.flatMap((step) => (step.step === 'alert' ? [step.channel] : [])),
    );
    expect(new Set(channels)).toEqual(new Set(['ops']));
    expect(botbox.policy.alerts.stuck_agent).toMatchObject({ channels: ['ops'] });
  });
});

describe('rulings', () => {
  test('the plan follows the signal: an agent that is done but reports it badly does not count as idle', () => {
    const both = [[0, { ...runtime, ...output({ last_output_at: T0, lines: 1, result_at: T0 }) }]] as const;
    expect(botbox.at(both, 16 * MIN)).toMatchObject({ fires: ['no_completion', 'no_output'], plan: 'no_completion' });
  });

  test('while rate-limited it is not idle', () => {
    const heartbeats = [
      [0, { ...runtime, ...output({ last_output_at: T0, lines: 1 }) }],
      [15 * MIN, { ...runtime, activity: 'rate_limited' }],
    ] as const;
    expect(botbox.at(heartbeats, 15 * MIN + 30 * SEC).plan).toBe('rate_limited');
  });
});

test('of an agent that reports none of this nothing is announced', () => {
  expect(botbox.at([[0, {}]], 600 * MIN)).toEqual({ state: 'HEALTHY', fires: [], plan: null });
});

describe('waiting is not an excuse', () => {
  const quiet = { ...output({ last_output_at: T0, lines: 1, result_at: T0 }) };
  const waits = (kind: 'prompt' | 'permission' | 'question' | null): Partial<HeartbeatPayload> => ({
    reporter: 'runtime',
    activity: 'awaiting_input',
    waiting_for: kind && { kind, text: null, since: T0 },
  });

  test.each([
    ['at its prompt', waits('prompt')],
    ['at a wait that nothing describes', waits(null)],
    ['idle', { reporter: 'runtime', activity: 'idle' }],
    ['handing off', { reporter: 'runtime', activity: 'handing_off' }],
    ['in a call', { ...runtime, tool_calls: [call('c1', { outcome: 'running', deadline_at: T0 + 90 * MIN })] }],
  ] as const)('an agent without output for 15 min is stuck: %s', (_, more) => {
    expect(botbox.at([[0, { ...more, ...output({ last_output_at: T0, lines: 1 }) }]], 15 * MIN + 1)).toMatchObject({
      state: 'STUCK',
      fires: ['no_output'],
    });
    expect(botbox.at([[0, { ...more, ...quiet }]], 10 * MIN + 1)).toMatchObject({ fires: ['no_completion'] });
  });

  test.each(['permission', 'question'] as const)('an open %s is one, and the silence counts from its end', (kind) => {
    const waiting: Heartbeats = [[0, { ...waits(kind), ...quiet }]];
    expect(botbox.at(waiting, 14 * MIN)).toEqual({ state: 'HEALTHY', fires: [], plan: null });
    for (const after of [runtime, waits('prompt')]) {
      const answered: Heartbeats = [...waiting, [14 * MIN, { ...after, ...quiet }]];
      expect(botbox.at(answered, 24 * MIN).fires).toEqual([]);
      expect(botbox.at(answered, 29 * MIN).fires).not.toContain('no_output');
      expect(botbox.at(answered, 29 * MIN + 1).fires).toEqual(['no_completion', 'no_output']);
    }
  });
});
