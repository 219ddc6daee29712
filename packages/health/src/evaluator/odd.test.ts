import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { laws } from '@vigil/stream/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { at, call, type HeartbeatPayload, heartbeat, policyOf, T0 } from '../fixture.ts';
import { CASES } from '../signals/testing/cases.ts';
import { explain } from './explain.ts';
import { agentHealth, type Observation } from './health.ts';
import { OlderInstance } from './observe.ts';
import { UNSEEN } from './state.ts';

/** Every signal makes DEGRADED, so that each is judged, announced and described. */
const signals = Object.fromEntries(Object.entries(CASES).map(([name, { limits }]) => [name, limits]));
const policies = policyOf(
  JSON.stringify({ policy: 'all', signals, states: { DEGRADED: Object.keys(signals) }, plans: [] }),
);
const decider = agentHealth(policies);

const FAR = 2 ** 53 - 1;
const odd = fc.constantFrom(0, 1, -1, FAR, -FAR, 1_000_000);
const time = fc.oneof(
  fc.integer({ min: -600_000, max: 600_000 }).map((ms) => T0 + ms),
  fc.constantFrom(0, -1, FAR, -FAR, T0 + 3e12, T0 - 1e12),
);
const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { freq: 2 });
const calls = fc
  .record({
    id: fc.constantFrom('c1', 'c2'),
    kind: fc.constantFrom('tool' as const, 'model' as const, 'UNKNOWN' as const),
    outcome: fc.constantFrom('ok' as const, 'error' as const, 'running' as const, 'UNKNOWN' as const),
    started_at: maybe(time),
    ended_at: maybe(time),
    deadline_at: maybe(time),
  })
  .map(({ id, ...more }) => call(id, more));
const report: fc.Arbitrary<Partial<HeartbeatPayload>> = fc.record({
  instance_id: fc.constantFrom('a1.i1', 'a1.i1', 'a1.i2'),
  task_id: fc.constantFrom('T-1', 'T-2', null),
  runtime_id: fc.constantFrom('host-1', null),
  sequence: maybe(odd),
  interval_ms: maybe(odd),
  reporter: fc.constantFrom('agent' as const, 'runtime' as const),
  ingress: fc.constantFrom(null, 'gateway'),
  agent_heartbeat_at: maybe(time),
  last_tool_call: maybe(time),
  token_count: fc.oneof(odd, fc.integer({ min: 0, max: 100_000 })),
  activity: fc.constantFrom('working', 'idle', 'awaiting_input', 'paused', 'handing_off', 'finished', 'UNKNOWN', null),
  tool_calls: fc.array(calls, { maxLength: 4 }),
  rate_limit: maybe(fc.record({ retry_at: maybe(time) })),
  context: maybe(fc.record({ tokens_used: odd, tokens_max: odd })),
  work: maybe(
    fc.record({
      id: fc.constantFrom('W-1', ''),
      status: fc.constant(null),
      updated_at: maybe(time),
      claim_refreshed_at: maybe(time),
      comment_count: maybe(odd),
    }),
  ),
  output: maybe(
    fc.record({
      last_output_at: maybe(time),
      lines: maybe(odd),
      matched_patterns: fc.array(
        fc.record({
          kind: fc.constantFrom('completion', 'error'),
          source: fc.constant('x'),
          at: time,
          line: maybe(odd),
        }),
        { maxLength: 2 },
      ),
      shown_errors: fc.constant([]),
      repeated_error: maybe(fc.record({ hash: fc.constant('h'), count: odd, first_at: time })),
      result_at: maybe(time),
      completion_signal_at: maybe(time),
      tail: fc.constant([]),
    }),
  ),
  steps: maybe(
    fc.record({
      total_steps: odd,
      verdicts: fc.array(fc.constantFrom('ACCEPT' as const, 'RETRY' as const, 'UNKNOWN' as const), { maxLength: 3 }),
    }),
  ),
  errors: fc.array(
    fc.record({
      at: time,
      count: odd,
      error_class: fc.constantFrom(null, 'timeout'),
      hash: fc.constantFrom(null, 'h'),
      message: fc.constant(null),
    }),
    { maxLength: 2 },
  ),
  limits: fc.array(
    fc.record({
      name: fc.constantFrom('memory', ''),
      used: fc.oneof(odd, fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY)),
      max: fc.oneof(odd, fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY)),
    }),
    { maxLength: 2 },
  ),
});
const heartbeats: fc.Arbitrary<Observation> = fc.oneof(
  fc.tuple(report, time).map(([more, timestamp]) => heartbeat(0, { ...more, timestamp })),
  report.map((more) => heartbeat(0, more)),
);
const controls: fc.Arbitrary<Observation> = maybe(time).map((until) => ({
  ...example(Topic.agentObservation, 'HOLD_AGENT', { agentId: 'a1', until }),
  key: 'a1',
}));
const observations = fc.oneof({ weight: 9, arbitrary: heartbeats }, { weight: 1, arbitrary: controls });

/** Refused records are not decided; for the laws they do not change the state. */
const refusing = {
  ...decider,
  observe: (...[state, input, clock]: Parameters<typeof decider.observe>) => {
    try {
      return decider.observe(state, input, clock);
    } catch (error) {
      if (error instanceof OlderInstance) return error.state;
      if (error instanceof TypeError || error instanceof RangeError) throw error;
      return state;
    }
  },
};

describe('odd data: zero, negative and huge numbers, times far off', () => {
  test('break no law, with every signal in use', () => laws(refusing, observations, { runs: 300 }), 60_000);

  test('have descriptions without NaN', () => {
    fc.assert(
      fc.property(fc.array(heartbeats, { maxLength: 6 }), (inputs) => {
        let state = UNSEEN as ReturnType<typeof refusing.observe>;
        for (const [i, input] of inputs.entries()) state = refusing.observe(state, input, at(i * 70_000));
        const explained = explain(policies, state, at(500_000));
        for (const { words, firesFrom } of explained?.signals ?? []) {
          expect(words).not.toMatch(/NaN|undefined/);
          expect(firesFrom).not.toBeNaN();
        }
      }),
      { numRuns: 300 },
    );
  });
});
