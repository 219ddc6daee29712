import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { NEVER } from '@vigil/stream';
import { given } from '@vigil/stream/testing';
import { describe, expect, test } from 'vitest';
import { brief, call, type HeartbeatPayload, heartbeat, policyOf, T0 } from '../fixture.ts';
import { EXEMPTIONS, type ExemptionName } from '../judgement/exemptions.ts';
import { agentHealth, type Observation } from './health.ts';

const NAMES = Object.keys(EXEMPTIONS) as ExemptionName[];

const POLICY = (more: string) => `
policy: edges
signals: { no_activity: { after: 8s }, no_output: { after: 8s }, token_burn: { for: 8s } }
states: { STUCK: [no_activity, no_output], DEGRADED: [token_burn] }
exemptions: { ${more} }
`;
const runtime: Partial<HeartbeatPayload> = { reporter: 'runtime' };
const control = (type: 'HOLD_AGENT' | 'RELEASE_AGENT', more: object): Observation =>
  ({ ...example(Topic.agentObservation, type, { agentId: 'a1', ...more }), key: 'a1' }) as Observation;

/** An agent that is exempt from time 0. `over` ends the exemption. */
type Edge = {
  readonly policy?: string;
  readonly begins: Observation;
  /** null: as long as it is reported */
  readonly untilMs: number | null;
  readonly over: ((ms: number) => Observation) | null;
};
const activity = (value: NonNullable<HeartbeatPayload['activity']>): Edge => ({
  begins: heartbeat(0, { ...runtime, agent_heartbeat_at: T0, tool_calls: [call('c0')], activity: value }),
  untilMs: null,
  over: (ms) => heartbeat(ms, { ...runtime, agent_heartbeat_at: T0, activity: 'working' }),
});
const seen: Partial<HeartbeatPayload> = {
  ...runtime,
  agent_heartbeat_at: T0,
  tool_calls: [call('c0')],
  activity: 'working',
};

const EDGES: Readonly<Record<ExemptionName, Edge>> = {
  held: { begins: heartbeat(0, seen), untilMs: null, over: () => control('RELEASE_AGENT', {}) },
  paused: activity('paused'),
  awaiting_input: activity('awaiting_input'),
  idle: activity('idle'),
  event_driven: { begins: heartbeat(0, { ...seen, event_driven: true }), untilMs: null, over: null },
  handing_off: { ...activity('handing_off'), policy: 'handing_off: { deadline: 30s }', untilMs: 30_000, over: null },
  rate_limited: {
    begins: heartbeat(0, { ...seen, rate_limit: { retry_at: T0 + 30_000 } }),
    untilMs: 30_000,
    over: null,
  },
  starting: {
    policy: 'starting: { grace: 30s }',
    begins: heartbeat(0, { ...runtime, agent_heartbeat_at: T0, activity: 'working' }),
    untilMs: 30_000,
    over: null,
  },
  call_in_flight: {
    policy: 'call_in_flight: { buffer: 10s }',
    begins: heartbeat(0, {
      ...runtime,
      tool_calls: [call('c0', { outcome: 'running', started_at: T0, deadline_at: T0 + 20_000 })],
      activity: 'working',
      output: {
        ...{
          last_output_at: T0,
          lines: 1,
          matched_patterns: [],
          shown_errors: [],
          repeated_error: null,
          result_at: null,
        },
        completion_signal_at: null,
        tail: [],
      },
    }),
    untilMs: 30_000,
    over: null,
  },
};
const LASTING: readonly ExemptionName[] = ['starting', 'event_driven'];

const stuckFrom = (exemption: ExemptionName, on: boolean): number => {
  const { policy = `${exemption}: true`, begins, untilMs, over } = EDGES[exemption];
  const others = NAMES.flatMap((name) => (name === exemption ? [] : [`${name}: false`]));
  const own = on ? policy : `${exemption}: false`;
  const agent = given(agentHealth(policyOf(POLICY([own, ...others].join(', ')))), T0);
  agent.receive(begins);
  if (exemption === 'held') agent.receive(control('HOLD_AGENT', { until: null }));
  for (let ms = 1; ms <= 30_000; ms += 1000) agent.passTo(T0 + ms);
  if (untilMs === null && over) agent.receive(over(30_000), T0 + 30_000);
  agent.passTo(T0 + 100_000);
  const stuck = agent.all().find((event) => event.type === 'HEALTH_STATE_CHANGED' && event.payload.to === 'STUCK');
  return stuck?.type === 'HEALTH_STATE_CHANGED' ? (stuck.payload.onsetAt ?? NEVER) - T0 : NEVER;
};

describe('edges', () => {
  test.each(NAMES)('%s: switched off, silence counts from the last sign', (exemption) => {
    expect(stuckFrom(exemption, false)).toBe(8001);
  });

  test.each(NAMES.filter((name) => !LASTING.includes(name)))(
    '%s: when it is over, the silence during the exemption does not count',
    (exemption) => {
      expect(stuckFrom(exemption, true)).toBe(38_001);
    },
  );

  test('starting is a grace period: once it is over, silence counts from the start', () => {
    expect(stuckFrom('starting', true)).toBe(30_000);
  });

  test('the silence of an agent that reports only events never counts', () => {
    expect(stuckFrom('event_driven', true)).toBe(NEVER);
  });

  test('starting ends with the first call, if that comes before the grace is over', () => {
    const agent = given(agentHealth(policyOf(POLICY('starting: { grace: 30s }'))), T0);
    agent.receive(EDGES.starting.begins);
    expect(brief(agent.receive(heartbeat(4000, { ...runtime, tool_calls: [call('c1')] }), T0 + 4000))).toContain(
      'exempt: null',
    );
    expect(brief(agent.passTo(T0 + 12_000))).not.toContain('HEALTHY → STUCK');
    expect(brief(agent.passTo(T0 + 12_001))).toContain('HEALTHY → STUCK');
  });
});

describe('starting until the first sign', () => {
  const policy = `
policy: starts
signals: { no_activity: { after: 8s } }
states: { STUCK: [no_activity] }
exemptions: { starting: { grace: 30s, until: first_sign } }
`;
  const shown = (rest: object) => ({
    ...{
      last_output_at: null,
      lines: 0,
      matched_patterns: [],
      shown_errors: [],
      repeated_error: null,
      result_at: null,
    },
    ...{ completion_signal_at: null, tail: [] },
    ...rest,
  });
  const output = shown({});
  const starts = () => {
    const agent = given(agentHealth(policyOf(policy)), T0);
    agent.receive(heartbeat(0, { ...runtime, output, activity: 'starting' }));
    return agent;
  };
  const signs: Readonly<Record<string, object>> = {
    'prints something': { output: shown({ last_output_at: T0 + 4000, lines: 1 }) },
    'sends a heartbeat of its own': { agent_heartbeat_at: T0 + 4000 },
    'sends its heartbeats itself': { reporter: 'agent' },
    'begins a turn': { turn: { open: true, last_event_at: T0 + 4000 } },
    'makes a call': { tool_calls: [call('c1', { started_at: T0 + 3000, ended_at: T0 + 4000 })] },
  };

  test.each(Object.entries(signs))('ends when the agent %s', (_, sign) => {
    const agent = starts();
    expect(brief(agent.passTo(T0 + 4000))).not.toContain('exempt: null');
    expect(brief(agent.receive(heartbeat(4000, { ...runtime, output, ...sign }), T0 + 4000))).toContain('exempt: null');
    expect(brief(agent.passTo(T0 + 12_000))).not.toContain('HEALTHY → STUCK');
    expect(brief(agent.passTo(T0 + 12_001))).toContain('HEALTHY → STUCK');
  });

  test('an agent that shows nothing is starting until exactly the end of the grace period', () => {
    const agent = starts();
    for (let ms = 1000; ms < 30_000; ms += 1000) agent.receive(heartbeat(ms, { ...runtime, output }), T0 + ms);
    expect(brief(agent.passTo(T0 + 29_999))).not.toContain('HEALTHY → STUCK');
    expect(brief(agent.passTo(T0 + 30_000))).toContain('HEALTHY → STUCK');
  });
});

describe('a call', () => {
  const policy = `
policy: calls
signals: { no_checkpoint: { after: 10s } }
states: { STUCK: [no_checkpoint] }
plans: [{ when: STUCK, do: [alert] }]
exemptions: { starting: false }
`;
  const begins = (ms: number, id = 'c1') =>
    heartbeat(ms, {
      tool_calls: [call(id, { outcome: 'running', started_at: T0 + ms, deadline_at: T0 + ms + 60_000 })],
    });
  const ends = (ms: number, id = 'c1') => heartbeat(ms, { tool_calls: [call(id, { ended_at: T0 + ms })] });
  const agent = () => {
    const one = given(agentHealth(policyOf(policy)), T0);
    one.receive(heartbeat(0, { reports_checkpoints: true }), T0);
    return one;
  };

  test('that began before anything was missing excuses missing signals until it ends', () => {
    const one = agent();
    one.receive(begins(10_001), T0 + 10_001);
    expect(brief(one.receive(heartbeat(30_000), T0 + 30_000))).toEqual([]);
    expect(brief(one.receive(ends(40_000), T0 + 40_000))).toContain('WARRANT_FILED STUCK');
  });

  test('that begins after a signal is missing does not excuse it: the finding holds', () => {
    const one = agent();
    one.receive(heartbeat(10_001), T0 + 10_001);
    expect(brief(one.all()).at(-2)).toBe('WARRANT_FILED STUCK');
    const found = one.all().length;
    one.receive(begins(10_002), T0 + 10_002);
    one.receive(ends(11_000), T0 + 11_000);
    expect(brief(one.all().slice(found))).toEqual([]);
  });

  test('that follows another without a pause excuses no more than the first, so an agent that is always in a call is found', () => {
    const one = agent();
    one.receive(begins(9000, 'c9'), T0 + 9000);
    const emitted = [12, 15, 18].flatMap((s) => {
      const now = T0 + 1000 * s;
      const [over, next] = [ends(1000 * s, `c${s - 3}`), begins(1000 * s, `c${s}`)];
      const calls = [...over.payload.tool_calls, ...next.payload.tool_calls];
      return one.receive(heartbeat(1000 * s, { tool_calls: calls }), now);
    });
    expect(brief(emitted)).toEqual(['HEALTHY → STUCK', 'WARRANT_FILED STUCK', 'T-1 kept: STUCK']);
  });
});
