import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { NEVER } from '@vigil/stream';
import { given } from '@vigil/stream/testing';
import { describe, expect, test } from 'vitest';
import { EXEMPTIONS, type ExemptionName } from './exemptions.ts';
import { type Beat, beat, brief, call, policyOf, T0 } from './fixture.ts';
import { agentHealth, type Observation } from './health.ts';

const NAMES = Object.keys(EXEMPTIONS) as ExemptionName[];

const POLICY = (more: string) => `
policy: edges
signals: { no_activity: { after: 8s }, no_output: { after: 8s }, token_burn: { for: 8s } }
states: { STUCK: [no_activity, no_output], DEGRADED: [token_burn] }
exemptions: { ${more} }
`;
const runtime: Partial<Beat> = { reporter: 'runtime' };
const steer = (type: 'HOLD_AGENT' | 'RELEASE_AGENT', more: object): Observation =>
  ({ ...example(Topic.agentObservation, type, { agentId: 'a1', ...more }), key: 'a1' }) as Observation;

/** An agent that was seen at 0 and is exempt from then on. `over` ends it. */
type Edge = {
  readonly policy?: string;
  readonly begins: Observation;
  /** null: for as long as it says so */
  readonly untilMs: number | null;
  readonly over: ((ms: number) => Observation) | null;
};
const activity = (value: NonNullable<Beat['activity']>): Edge => ({
  begins: beat(0, { ...runtime, agent_beat_at: T0, tool_calls: [call('c0')], activity: value }),
  untilMs: null,
  over: (ms) => beat(ms, { ...runtime, agent_beat_at: T0, activity: 'working' }),
});
const seen: Partial<Beat> = { ...runtime, agent_beat_at: T0, tool_calls: [call('c0')], activity: 'working' };

const EDGES: Readonly<Record<ExemptionName, Edge>> = {
  held: { begins: beat(0, seen), untilMs: null, over: () => steer('RELEASE_AGENT', {}) },
  paused: activity('paused'),
  awaiting_input: activity('awaiting_input'),
  idle: activity('idle'),
  handing_off: { ...activity('handing_off'), policy: 'handing_off: { deadline: 30s }', untilMs: 30_000, over: null },
  rate_limited: {
    begins: beat(0, { ...seen, rate_limit: { retry_at: T0 + 30_000 } }),
    untilMs: 30_000,
    over: null,
  },
  starting: {
    policy: 'starting: { grace: 30s }',
    begins: beat(0, { ...runtime, agent_beat_at: T0, activity: 'working' }),
    untilMs: 30_000,
    over: null,
  },
  call_in_flight: {
    policy: 'call_in_flight: { buffer: 10s }',
    begins: beat(0, {
      ...runtime,
      tool_calls: [call('c0', { outcome: 'running', started_at: T0, deadline_at: T0 + 20_000 })],
      activity: 'working',
      output: {
        ...{ last_output_at: T0, lines: 1, matched_patterns: [], repeated_error: null, result_at: null },
        completion_signal_at: null,
        tail: [],
      },
    }),
    untilMs: 30_000,
    over: null,
  },
};
const stuckFrom = (exemption: ExemptionName, on: boolean): number => {
  const { policy = `${exemption}: true`, begins, untilMs, over } = EDGES[exemption];
  const others = NAMES.flatMap((name) => (name === exemption ? [] : [`${name}: false`]));
  const own = on ? policy : `${exemption}: false`;
  const agent = given(agentHealth(policyOf(POLICY([own, ...others].join(', ')))), T0);
  agent.tell(begins);
  if (exemption === 'held') agent.tell(steer('HOLD_AGENT', { until: null }));
  for (let ms = 1; ms <= 30_000; ms += 1000) agent.passTo(T0 + ms);
  if (untilMs === null && over) agent.tell(over(30_000), T0 + 30_000);
  agent.passTo(T0 + 100_000);
  const stuck = agent.all().find((said) => said.type === 'HEALTH_STATE_CHANGED' && said.payload.to === 'STUCK');
  return stuck?.type === 'HEALTH_STATE_CHANGED' ? (stuck.payload.onsetAt ?? NEVER) - T0 : NEVER;
};

describe('edges', () => {
  test.each(NAMES)('%s: switched off, silence counts from the last sign', (exemption) => {
    expect(stuckFrom(exemption, false)).toBe(8001);
  });

  test.each(NAMES.filter((name) => name !== 'starting'))(
    '%s: when it is over, its silence meanwhile is not held against the agent',
    (exemption) => {
      expect(stuckFrom(exemption, true)).toBe(38_001);
    },
  );

  test('starting is a grace: silence counts from the start once it is over', () => {
    expect(stuckFrom('starting', true)).toBe(30_000);
  });

  test('starting ends with the first call, if that comes before the grace is over', () => {
    const agent = given(agentHealth(policyOf(POLICY('starting: { grace: 30s }'))), T0);
    agent.tell(EDGES.starting.begins);
    expect(brief(agent.tell(beat(4000, { ...runtime, tool_calls: [call('c1')] }), T0 + 4000))).toContain(
      'exempt: null',
    );
    expect(brief(agent.passTo(T0 + 12_000))).not.toContain('HEALTHY → STUCK');
    expect(brief(agent.passTo(T0 + 12_001))).toContain('HEALTHY → STUCK');
  });
});
