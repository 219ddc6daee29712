import { laws } from '@vigil/stream/testing';
import fc from 'fast-check';
import { test } from 'vitest';
import { agentHealth } from '../evaluator/health.ts';
import { call, type HeartbeatPayload, heartbeat, policyOf, T0 } from '../fixture.ts';
import { SIGNALS } from './all.ts';
import { CASES } from './testing/cases.ts';

/** Every signal at once, some of them quieted by counter-evidence. */
const quieted: Readonly<Record<string, object>> = {
  repeated_calls: { unless: ['diverse_calls', 'steady_tokens'] },
  no_tokens: { unless: 'steady_tokens' },
};
const signals = Object.entries(CASES).map(([name, { limits }]) => [name, { ...limits, ...quieted[name] }]);
const document = {
  policy: 'all',
  signals: { ...Object.fromEntries(signals), rate_limited: { for: '45s' } },
  states: { STUCK: Object.keys(SIGNALS).filter((name) => !name.endsWith('_tokens') && name !== 'diverse_calls') },
  plans: [{ when: 'STUCK', do: ['alert'] }],
  exemptions: { rate_limited: false },
};
const decider = agentHealth(policyOf(JSON.stringify(document)));

const at = fc.constantFrom(T0 - 90_000, T0, T0 + 3000);
const calls = fc
  .record({
    args_hash: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', null),
    result_hash: fc.constantFrom('r', 's', null),
    masked_result_hash: fc.constantFrom('m', null),
    outcome: fc.constantFrom(
      'ok' as const,
      'error' as const,
      'running' as const,
      'refused' as const,
      'abandoned' as const,
    ),
    error_class: fc.constantFrom('exit_1', 'auth_expired', 'rate_limit', null),
    target: fc.constantFrom('a.ts', 'b.ts', null),
    ended_at: fc.option(at),
    mutating: fc.boolean(),
    polling: fc.boolean(),
    checking: fc.boolean(),
  })
  .map((more) => call(`c${more.args_hash}`, more));
const errors = fc.record({
  at,
  count: fc.nat(9),
  error_class: fc.constantFrom('HTTP', 'auth_expired', 'rate_limit', null),
  hash: fc.constantFrom('h', 'i', null),
  message: fc.constantFrom('overloaded_error', 'other', null),
});
const output: fc.Arbitrary<NonNullable<HeartbeatPayload['output']>> = fc.record({
  last_output_at: fc.option(at),
  lines: fc.constantFrom(null, 10, 40, 70, 200),
  matched_patterns: fc.constantFrom([], [{ kind: 'error', source: 'tool_use ids', at: T0, line: null }]),
  shown_errors: fc.constant([]),
  repeated_error: fc.option(fc.record({ hash: fc.constant('h'), count: fc.nat(9), first_at: at })),
  result_at: fc.option(at),
  completion_signal_at: fc.option(at),
  tail: fc.constantFrom([], ['400 Bad', 'HTTP 429']),
});
const heartbeats = fc
  .record({
    activity: fc.constantFrom('working' as const, 'finished' as const, 'paused' as const, 'blocked' as const, null),
    token_count: fc.option(fc.nat(9_000)),
    turn: fc.option(fc.record({ open: fc.boolean(), started_at: fc.constant(T0), last_event_at: fc.option(at) })),
    tool_calls: fc.array(calls, { maxLength: 6 }),
    errors: fc.array(errors, { maxLength: 2 }),
    output: fc.option(output),
    steps: fc.option(
      fc.record({
        total_steps: fc.nat(40),
        verdicts: fc.array(fc.constantFrom('ACCEPT' as const, 'RETRY' as const), { maxLength: 3 }),
      }),
    ),
  })
  .map((more) => heartbeat(0, more));

test('every signal keeps the laws of deciders, with any heartbeats and any passing of time', () => {
  laws(decider, heartbeats, { runs: 150 });
});
