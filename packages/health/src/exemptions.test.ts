import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { loadPolicy } from '@vigil/policy';
import { NEVER } from '@vigil/stream';
import { given } from '@vigil/stream/testing';
import { describe, expect, test } from 'vitest';
import { EXEMPTIONS, type ExemptionName } from './exemptions.ts';
import { at, type Beat, beat, brief, call, history, policyOf, T0 } from './fixture.ts';
import { agentHealth, type Observation } from './health.ts';
import type { History } from './history/history.ts';
import { judge } from './judge.ts';
import { type Rules, rulesOf, VOCABULARY } from './rules.ts';
import { SIGNALS, type SignalName } from './signals/all.ts';
import { CASES } from './signals/cases.ts';

const NAMES = Object.keys(EXEMPTIONS) as ExemptionName[];
const LATE = 86_400_000;

/** A policy of one signal and one exemption. */
const rulesWith = (signal: SignalName, exemption: ExemptionName | null): Rules => {
  const exemptions = Object.fromEntries(NAMES.map((name) => [name, name === exemption]));
  const document = { policy: 'one', signals: { [signal]: CASES[signal].limits }, states: {}, exemptions };
  return rulesOf(loadPolicy(JSON.stringify(document), 'one.yaml', VOCABULARY));
};

/** The history of a signal that fires. */
const firing = (signal: SignalName): History => {
  const known = history(CASES[signal].beats);
  if (signal === 'rate_limited') return { ...known, rateLimit: { at: T0 + LATE, mark: T0, retryAt: null } };
  return signal === 'exited' ? { ...known, end: { reason: 'crashed', at: T0 + 9000, ordered: false } } : known;
};
const says = (value: NonNullable<Beat['activity']>) => (h: History) => ({
  ...h,
  activity: { ...h.activity, value, since: T0 + LATE },
});

/** What makes each exemption hold, whatever else is so. */
const HOLDING: Readonly<Record<ExemptionName, (h: History) => History>> = {
  held: (h) => ({ ...h, held: { until: null, mark: T0, over: false } }),
  paused: says('paused'),
  rate_limited: (h) => ({ ...h, rateLimit: { at: T0 + LATE, mark: T0, retryAt: null } }),
  awaiting_input: says('awaiting_input'),
  handing_off: says('handing_off'),
  idle: says('idle'),
  starting: (h) => ({ ...h, calls: { ...h.calls, last: null }, started: { ...h.started, now: T0 + LATE } }),
  call_in_flight: (h) => {
    const flying = { id: 'flying', kind: 'tool' as const, tool: 'bash', mark: T0 + LATE, spanMs: 60_000 };
    return { ...h, calls: { ...h.calls, open: [...h.calls.open, flying] } };
  },
};

/** Signals that an exemption does not suspend though it suspends their axis; and those whose own data it changes in this test. */
const DESPITE: Readonly<Record<string, ExemptionName>> = {
  call_overdue: 'call_in_flight',
  no_completion: 'idle',
  not_started: 'idle',
};
const OWN_DATA: Readonly<Record<string, readonly ExemptionName[]>> = {
  self_reported_stuck: ['paused', 'awaiting_input', 'handing_off', 'idle'],
  context_exhausted: ['handing_off'],
  rate_limited: ['rate_limited'],
  false_completion: ['paused', 'awaiting_input', 'handing_off', 'idle'],
  // What speaks for an agent is over by itself before then.
  diverse_calls: NAMES,
  steady_tokens: NAMES,
};

const firesAt = (signal: SignalName, exemption: ExemptionName, on: boolean): number => {
  const h = HOLDING[exemption](firing(signal));
  const verdict = judge(rulesWith(signal, on ? exemption : null), h, at(LATE), true);
  return verdict.from[0] ?? NEVER;
};
const TABLE: Readonly<Record<ExemptionName, readonly string[]>> = {
  held: ['absence', 'repetition', 'rate', 'cost'],
  paused: ['absence', 'repetition', 'rate', 'cost'],
  rate_limited: ['absence', 'repetition', 'rate', 'cost'],
  awaiting_input: ['absence'],
  handing_off: ['absence', 'cost'],
  idle: ['absence', 'cost'],
  starting: ['absence'],
  call_in_flight: ['absence'],
};

describe.each(NAMES)('%s', (exemption) => {
  const names = Object.keys(SIGNALS) as SignalName[];
  const theirs = names.filter((name) => !OWN_DATA[name]?.includes(exemption));

  test.each(theirs)('suspends %s, or not, by its axis', (signal) => {
    const suspended = TABLE[exemption].includes(SIGNALS[signal].axis) && DESPITE[signal] !== exemption;
    const from = firesAt(signal, exemption, true);
    if (suspended) expect(from).toBeGreaterThan(T0 + LATE);
    else if (exemption !== 'starting' || signal !== 'no_calls') expect(from).toBeLessThanOrEqual(T0 + LATE);
  });

  test.each(theirs.filter((signal) => signal !== 'no_calls'))('switched off, it does not suspend %s', (signal) => {
    const from = firesAt(signal, exemption, false);
    const working = signal === 'no_tokens' && ['paused', 'awaiting_input', 'handing_off', 'idle'].includes(exemption);
    if (!working) expect(from).toBeLessThanOrEqual(T0 + LATE);
  });

  test('never suspends a fact', () => {
    expect(EXEMPTIONS[exemption].suspends).not.toContain('fact');
    expect(EXEMPTIONS[exemption].suspends).toEqual(TABLE[exemption]);
  });
});

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
