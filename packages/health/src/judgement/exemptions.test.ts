import { loadPolicy } from '@vigil/policy';
import { NEVER } from '@vigil/stream';
import { describe, expect, test } from 'vitest';
import { at, type HeartbeatPayload, history, T0 } from '../fixture.ts';
import type { History } from '../history/history.ts';
import { SIGNALS, type SignalName } from '../signals/all.ts';
import { CASES } from '../signals/testing/cases.ts';
import { VOCABULARY } from '../vocabulary.ts';
import { EXEMPTIONS, type ExemptionName } from './exemptions.ts';
import { judge } from './judge.ts';
import { type Rules, rulesOf } from './rules.ts';

const NAMES = Object.keys(EXEMPTIONS) as ExemptionName[];
const LATE = 86_400_000;

/** A policy of one signal and one exemption. */
const rulesWith = (signal: SignalName, exemption: ExemptionName | null): Rules => {
  const exemptions = Object.fromEntries(NAMES.map((name) => [name, name === exemption]));
  const one = { policy: 'one', signals: { [signal]: CASES[signal].limits }, states: {}, exemptions };
  // This test does not judge the runtime's own silence.
  const document = { ...one, heartbeat: { trusted_for: '48h' } };
  return rulesOf(loadPolicy(JSON.stringify(document), 'one.yaml', VOCABULARY));
};

/** The history of a signal that fires. */
const firing = (signal: SignalName): History => {
  const known = history(CASES[signal].heartbeats);
  if (signal === 'rate_limited')
    return { ...known, rateLimit: { at: T0 + LATE, mark: T0, retryAt: null, sentRetry: null, sentEvent: null } };
  return signal === 'exited'
    ? { ...known, end: { reason: 'crashed', at: T0 + 9000, orderId: null, bySelf: false } }
    : known;
};
const reporting = (value: NonNullable<HeartbeatPayload['activity']>) => (h: History) => ({
  ...h,
  activity: { ...h.activity, value, since: T0 + LATE },
});

/** A history in which each exemption holds, independent of the other parts. */
const HOLDING: Readonly<Record<ExemptionName, (h: History) => History>> = {
  held: (h) => ({ ...h, hold: { until: null, mark: T0, over: false } }),
  paused: reporting('paused'),
  rate_limited: (h) => ({
    ...h,
    rateLimit: { at: T0 + LATE, mark: T0, retryAt: null, sentRetry: null, sentEvent: null },
  }),
  awaiting_input: reporting('awaiting_input'),
  handing_off: reporting('handing_off'),
  idle: reporting('idle'),
  event_driven: (h) => ({ ...h, identity: { ...h.identity, eventDriven: true } }),
  starting: (h) => ({ ...h, calls: { ...h.calls, last: null }, started: { ...h.started, now: T0 + LATE } }),
  call_in_flight: (h) => {
    const flying = { id: 'flying', kind: 'tool' as const, tool: 'bash', mark: T0, spanMs: LATE + 60_000 };
    return { ...h, calls: { ...h.calls, open: [...h.calls.open, flying] } };
  },
};

/**
 * Signals that an exemption does not suspend although it suspends their axis, and signals whose own data it changes in
 * this test.
 */
const DESPITE: Readonly<Record<string, readonly ExemptionName[]>> = {
  call_overdue: ['call_in_flight', 'event_driven'],
  no_completion: ['idle'],
  not_started: ['idle'],
};
const BY_REPORT: readonly ExemptionName[] = ['paused', 'awaiting_input', 'handing_off', 'idle'];
const OWN_DATA: Readonly<Record<string, readonly ExemptionName[]>> = {
  self_reported_stuck: BY_REPORT,
  context_exhausted: ['handing_off'],
  // a report of a hand-off counts as a start, unless its policy needs evidence
  not_started: ['handing_off'],
  rate_limited: ['rate_limited'],
  // by its own definition it does not fire while a call is in flight
  no_model_answer: ['call_in_flight'],
  false_completion: BY_REPORT,
};

/** When the signal may lead to a step. */
const firesAt = (signal: SignalName, exemption: ExemptionName, on: boolean): number => {
  const h = HOLDING[exemption](firing(signal));
  const judgement = judge(rulesWith(signal, on ? exemption : null), h, at(LATE), true);
  return judgement.acting[0] ?? NEVER;
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
  event_driven: ['absence'],
};

describe.each(NAMES)('%s', (exemption) => {
  // Counter-evidence expires by itself before then.
  const lasting = (Object.keys(SIGNALS) as SignalName[]).filter((name) => !SIGNALS[name].mitigating);
  const theirs = lasting.filter((name) => !OWN_DATA[name]?.includes(exemption));

  test.each(theirs)('suspends %s, or not, by its axis', (signal) => {
    const suspended = TABLE[exemption].includes(SIGNALS[signal].axis) && !DESPITE[signal]?.includes(exemption);
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
