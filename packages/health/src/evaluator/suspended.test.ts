import { given } from '@vigil/stream/testing';
import { describe, expect, test } from 'vitest';
import { brief, call, type HeartbeatPayload, heartbeat, policyOf, T0 } from '../fixture.ts';
import { agentHealth } from './health.ts';

const SEC = 1000;
const MIN = 60 * SEC;

const decider = agentHealth(
  policyOf(`
policy: p
signals: { no_checkpoint: { after: 30m }, same_call: { is: repeated_calls, times: 3 } }
states: { STUCK: [no_checkpoint, same_call] }
exemptions: { starting: false, call_in_flight: false }
plans: [{ when: STUCK, do: [alert: ops] }]
`),
);

type Report = Partial<HeartbeatPayload>;
const work: Report = { activity: 'working', reports_checkpoints: true };
const waiting = (kind: 'permission' | 'question' | 'prompt'): Report => ({
  ...work,
  activity: 'awaiting_input',
  waiting_for: { kind, text: 'rm?', since: null },
});
const asks = waiting('permission');
const saves = (now: number): Report => ({
  ...work,
  checkpoint: {
    ...{ checkpoint_id: `k${now}`, parent_id: null, uri: null, sha256: null, valid: null, invalid_reason: null },
    ...{ created_at: T0 + now, completed_work: [], remaining_work: [] },
  },
});

/** Reports every ten seconds until `ms`. */
const reporting = (ms: number, reportAt: (now: number) => Report) => {
  const agent = given(decider, T0);
  for (let now = 0; now <= ms; now += 10 * SEC)
    agent.receive(heartbeat(now, { sequence: now / SEC, task_id: 'T-1', ...reportAt(now) }), T0 + now);
  return agent.all();
};

type Emitted = ReturnType<typeof reporting>;
const episodesOf = (emitted: Emitted) =>
  new Set(emitted.flatMap((event) => (event.type === 'WARRANT_FILED' ? [event.payload.episodeId] : [])));
const suspensions = (emitted: Emitted) => {
  const all = emitted.flatMap((event) => (event.type === 'WARRANT_RENEWED' ? [event.payload.suspendedBy] : []));
  return all.filter((by, i) => by !== (all[i - 1] ?? null));
};
const states = (emitted: Emitted) => brief(emitted).filter((line) => line.includes('→'));

describe('a wait after the finding suspends its plan, and ends neither finding, warrant nor episode', () => {
  test.each<[string, string, Report]>([
    ['asks for a permission', 'awaiting_input', asks],
    ['asks a question', 'awaiting_input', waiting('question')],
    ['waits for an input that nothing describes', 'awaiting_input', { ...work, activity: 'awaiting_input' }],
    ['is paused', 'paused', { ...work, activity: 'paused' }],
    ['idles with its task', 'idle', { ...work, activity: 'idle' }],
  ])('an agent that %s again and again after the finding', (_, exemption, wait) => {
    const emitted = reporting(90 * MIN, (now) => (now > 35 * MIN && now % (10 * MIN) < MIN ? wait : work));
    expect(states(emitted)).toEqual(['HEALTHY → STUCK']);
    expect(episodesOf(emitted).size).toBe(1);
    expect(brief(emitted).filter((line) => line.includes('LAPSED'))).toEqual([]);
    const six = Array.from({ length: 6 }, () => [exemption, null]).flat();
    expect(suspensions(emitted)).toEqual(six.slice(0, suspensions(emitted).length));
    expect(suspensions(emitted).length).toBeGreaterThanOrEqual(11);
  });

  test('a rate limit suspends the plan until its reset', () => {
    const limits = (now: number): Report =>
      now > 35 * MIN && now % (10 * MIN) === 0 ? { ...work, rate_limit: { retry_at: T0 + now + 45 * SEC } } : work;
    const emitted = reporting(65 * MIN, limits);
    expect(states(emitted)).toEqual(['HEALTHY → STUCK']);
    expect(suspensions(emitted)).toEqual(['rate_limited', null, 'rate_limited', null, 'rate_limited', null]);
  });

  test('the awaited progress ends it during the wait', () => {
    const emitted = reporting(60 * MIN, (now) =>
      now === 50 * MIN
        ? { ...saves(now), ...asks, checkpoint: saves(now).checkpoint ?? null }
        : now < 40 * MIN
          ? work
          : asks,
    );
    expect(states(emitted)).toEqual(['HEALTHY → STUCK', 'STUCK → HEALTHY']);
    expect(brief(emitted).some((line) => line.includes('LAPSED'))).toBe(true);
  });
});

describe('what a wait does end or prevent', () => {
  test('a wait that began before the limit is exceeded prevents the finding', () => {
    expect(states(reporting(90 * MIN, (now) => (now < 29 * MIN ? work : asks)))).toEqual([]);
  });

  test('new work after an idle prompt ends the finding', () => {
    const emitted = reporting(50 * MIN, (now) => (now > 35 * MIN && now < 37 * MIN ? waiting('prompt') : work));
    expect(states(emitted)).toEqual(['HEALTHY → STUCK', 'STUCK → HEALTHY']);
  });

  test('what the wait does not excuse acts during it', () => {
    const emitted = reporting(40 * MIN, (now) => (now < 36 * MIN ? work : { ...asks, tool_calls: [call(`c${now}`)] }));
    expect(states(emitted)).toEqual(['HEALTHY → STUCK']);
    expect(suspensions(emitted)).toEqual(['awaiting_input', null]);
  });
});
