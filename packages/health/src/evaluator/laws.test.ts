import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { sparse } from '@vigil/stream';
import { given, laws } from '@vigil/stream/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { at, call, type HeartbeatPayload, heartbeat, presetsWith, T0 } from '../fixture.ts';
import { AT_REST } from './at-rest.ts';
import { evaluate, type Recorded } from './evaluate.ts';
import { agentHealth, type Observation } from './health.ts';
import { OlderInstance } from './observe.ts';

const demo = presetsWith('demo');
const decider = agentHealth(demo);

const hold = (until: number | null): Observation => ({
  ...example(Topic.agentObservation, 'HOLD_AGENT', { agentId: 'a1', until }),
  key: 'a1',
});
const release: Observation = { ...example(Topic.agentObservation, 'RELEASE_AGENT', { agentId: 'a1' }), key: 'a1' };

const reset: Observation = {
  ...example(Topic.agentObservation, 'RESET_BREAKER', { agentId: 'a1', name: 'tool_execution' }),
  key: 'a1',
};

const calls: fc.Arbitrary<HeartbeatPayload['tool_calls'][number]> = fc
  .record({
    id: fc.constantFrom('c1', 'c2', 'c3'),
    kind: fc.constantFrom('tool' as const, 'external_api' as const),
    args_hash: fc.constantFrom('a', 'b', null),
    result_hash: fc.constantFrom('r', 's', null),
    outcome: fc.constantFrom('ok' as const, 'error' as const, 'running' as const),
    deadline_at: fc.constantFrom(null, T0 + 60_000),
    mutating: fc.boolean(),
  })
  .map(({ id, ...more }) => call(id, more));
const breakers: fc.Arbitrary<HeartbeatPayload['breakers'][number]> = fc.record({
  name: fc.constantFrom('tool_execution', 'external_api', 'recovery_attempt'),
  state: fc.constantFrom('OPEN' as const, 'HALF_OPEN' as const, 'CLOSED' as const, 'UNKNOWN' as const),
  failures: fc.constant(3),
  next_attempt_at: fc.constantFrom(null, T0 + 30_000),
});
const heartbeats: fc.Arbitrary<Observation> = fc
  .record({
    instance_id: fc.constantFrom('a1.i1', 'a1.i2', null),
    task_id: fc.constantFrom('T-1', 'T-2', null),
    sequence: fc.constantFrom(null, 1, 2, 3),
    reporter: fc.constantFrom('agent' as const, 'runtime' as const),
    activity: fc.constantFrom(
      'working' as const,
      'idle' as const,
      'awaiting_input' as const,
      'stuck' as const,
      'rate_limited' as const,
      'blocked' as const,
      'exiting' as const,
      null,
    ),
    ingress: fc.constantFrom(null, 'gateway'),
    policy: fc.constantFrom(null, 'vigil', 'unpublished'),
    reports_checkpoints: fc.constantFrom(true, null),
    last_tool_call: fc.constantFrom(null, T0, T0 + 5000),
    tool_calls: fc.array(calls, { maxLength: 6 }),
    breakers: fc.array(breakers, { maxLength: 1 }),
    handoff: fc.constantFrom(null, 'please take over'),
  })
  .map((more) => heartbeat(0, more));
const ends: fc.Arbitrary<Observation> = fc
  .record({
    instanceId: fc.constantFrom('a1.i1', 'a1.i2', 'a1.i3'),
    reason: fc.constantFrom('finished' as const, 'crashed' as const),
    orderId: fc.constantFrom(null, 'o1'),
  })
  .map((more) => ({ ...example(Topic.agentObservation, 'AGENT_EXITED', { agentId: 'a1', ...more }), key: 'a1' }));
const observations: fc.Arbitrary<Observation> = fc.oneof(
  { weight: 8, arbitrary: heartbeats },
  { weight: 1, arbitrary: ends },
  { weight: 1, arbitrary: fc.constantFrom(hold(null), hold(T0 + 90_000), release, reset) },
);

/** Refused records are not decided; for the laws they do not change the state. */
const refusing = {
  ...decider,
  observe: (...[state, input, clock]: Parameters<typeof decider.observe>) => {
    try {
      return decider.observe(state, input, clock);
    } catch (error) {
      return error instanceof OlderInstance ? error.state : state;
    }
  },
};

describe('the laws', () => {
  test('hold for every agent', () => laws(refusing, observations, { runs: 300 }), 60_000);

  test('the same records give the same decisions, from any restored state', () => {
    const records = fc.array(
      fc.record({ input: fc.option(observations, { freq: 3 }), ms: fc.integer({ min: 0, max: 20_000 }) }),
      {
        maxLength: 40,
      },
    );
    fc.assert(
      fc.property(records, fc.nat(40), (steps, cut) => {
        let ms = 0;
        const recorded: Recorded[] = steps.map(({ input, ms: by }) => {
          ms += by;
          return { input, clock: at(ms) };
        });
        const whole = [...evaluate(demo, recorded)];
        const states = new Map();
        const first = [...evaluate(demo, recorded.slice(0, cut), states)];
        const restored = new Map(JSON.parse(JSON.stringify([...states])));
        const second = [...evaluate(demo, recorded.slice(cut), restored as never)];
        expect([...first, ...second]).toEqual(whole);
      }),
      { numRuns: 150 },
    );
  });

  test('a state of an agent at work stays within 2 KB at rest', () => {
    const agent = given(decider, T0);
    for (let i = 0; i < 100; i++)
      agent.receive(
        heartbeat(i * 1000, { sequence: i, tool_calls: [call(`c${i}`, { args_hash: `a${i}` })], activity: 'working' }),
        T0 + i * 1000,
      );
    expect(sparse(AT_REST.usual).write(agent.state()).length).toBeLessThan(2_000);
  });
});
