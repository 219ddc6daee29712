import { given } from '@vigil/stream/testing';
import { describe, expect, test } from 'vitest';
import { brief, call, type HeartbeatPayload, heartbeat, policyOf, T0 } from '../fixture.ts';
import { agentHealth } from './health.ts';

const SEC = 1000;
const MIN = 60 * SEC;

const policyWith = (exemptions: string, more = '') =>
  agentHealth(
    policyOf(`
policy: p
signals: { no_checkpoint: { after: 30m } }
states: { STUCK: [no_checkpoint] }
exemptions: { starting: false, call_in_flight: false, ${exemptions} }
${more}
`),
  );

const limitError = { at: T0, count: 1, error_class: 'rate_limit', hash: 'h', message: null };

type Report = Partial<HeartbeatPayload>;
const work: Report = { activity: 'working', reports_checkpoints: true };
const asks: Report = {
  ...work,
  activity: 'awaiting_input',
  waiting_for: { kind: 'permission', text: 'rm?', since: null },
};

/** Reports every ten seconds until `ms`, and when the agent became STUCK; null: it did not. Milliseconds after T0. */
const stuckAt = (decider: ReturnType<typeof policyWith>, ms: number, reportAt: (now: number) => Report | null) => {
  const agent = given(decider, T0);
  for (let now = 0; now <= ms; now += 10 * SEC) {
    const report = reportAt(now);
    if (report === null) agent.passTo(T0 + now);
    else agent.receive(heartbeat(now, { sequence: now / 1000, ...report }), T0 + now);
  }
  const found = agent.all().find((event) => event.type === 'HEALTH_STATE_CHANGED' && event.payload.to === 'STUCK');
  return found?.type === 'HEALTH_STATE_CHANGED' ? (found.payload.onsetAt ?? Number.NaN) - T0 : null;
};

/** Nine minutes of work and one minute of a wait, again and again. */
const every = (wait: Report) => (now: number) => (now % (10 * MIN) >= 9 * MIN ? wait : work);

describe('only the wait is left out of an absence', () => {
  test.each<[string, Report]>([
    ['asks for a permission', asks],
    ['waits for an input that nothing describes', { ...work, activity: 'awaiting_input' }],
    ['is paused', { ...work, activity: 'paused' }],
    ['idles with its task', { ...work, activity: 'idle' }],
  ])('an agent that %s every nine minutes exceeds 30 minutes without a checkpoint', (_, wait) => {
    expect(stuckAt(policyWith(''), 60 * MIN, every(wait))).toBe(33 * MIN + 1);
  });

  test('a short rate limit every nine minutes takes away the time until its reset, and no more', () => {
    const limits = (now: number): Report =>
      now % (10 * MIN) === 9 * MIN ? { ...work, rate_limit: { retry_at: T0 + now + 45 * SEC } } : work;
    expect(stuckAt(policyWith(''), 60 * MIN, limits)).toBe(30 * MIN + 3 * 45 * SEC + 1);
  });

  test('a rate limit without a reset takes away the time that the policy gives it', () => {
    const limits = (now: number): Report => (now % (10 * MIN) === 9 * MIN ? { ...work, errors: [limitError] } : work);
    expect(stuckAt(policyWith('rate_limited: { for: 20s }'), 60 * MIN, limits)).toBe(31 * MIN + 1);
  });

  test('a hand-off takes away its time up to its deadline, once for a task', () => {
    const decider = policyWith('handing_off: { deadline: 2m }');
    const hands = (now: number): Report => (now % (10 * MIN) >= 5 * MIN ? { ...work, activity: 'handing_off' } : work);
    expect(stuckAt(decider, 60 * MIN, hands)).toBe(32 * MIN + 1);
  });

  test('waits that overlap are left out once', () => {
    const limits = (now: number): Report =>
      now === 9 * MIN ? { ...asks, rate_limit: { retry_at: T0 + now + 4 * MIN } } : every(asks)(now);
    expect(stuckAt(policyWith(''), 60 * MIN, limits)).toBe(30 * MIN + 4 * MIN + 2 * MIN + 1);
  });

  test('a wait that the policy does not excuse counts', () => {
    expect(stuckAt(policyWith('awaiting_input: false'), 60 * MIN, every(asks))).toBe(30 * MIN + 1);
    expect(stuckAt(policyWith('paused: false'), 60 * MIN, every(asks))).toBe(33 * MIN + 1);
  });

  test('a wait before the last checkpoint does not lengthen the time after it', () => {
    const checkpoint = {
      ...{ checkpoint_id: 'k', parent_id: null, uri: null, sha256: null, valid: null, invalid_reason: null },
      ...{ created_at: T0 + 20 * MIN, completed_work: [], remaining_work: [] },
    };
    const saves = (now: number): Report => (now === 20 * MIN ? { ...work, checkpoint } : every(asks)(now));
    expect(stuckAt(policyWith(''), 90 * MIN, saves)).toBe(20 * MIN + 33 * MIN + 1);
  });

  test('it is found at the end of a wait if the time before was over exactly then, and not a millisecond sooner', () => {
    const waits = (from: number) => (now: number) => (now >= from && now < from + 60 * MIN ? asks : work);
    expect(stuckAt(policyWith(''), 120 * MIN, waits(30 * MIN))).toBe(90 * MIN + 1);
    expect(stuckAt(policyWith(''), 120 * MIN, waits(30 * MIN + 10 * SEC))).toBe(30 * MIN + 1);
  });

  test('hundreds of short waits take away their sum, as few do', () => {
    const often = (now: number): Report => (now % MIN >= 50 * SEC ? asks : work);
    expect(stuckAt(policyWith(''), 60 * MIN, often)).toBe(36 * MIN + 1);
  });
});

describe('new work begins again', () => {
  const prompt: Report = {
    ...work,
    activity: 'awaiting_input',
    waiting_for: { kind: 'prompt', text: null, since: null },
  };
  const idle: Report = { ...work, activity: 'idle', task_id: null };

  test.each<[string, Report]>([
    ['an idle prompt', prompt],
    ['idleness without a task', idle],
    ['the end of its work', { ...work, activity: 'finished' }],
  ])('absences count from the end of %s', (_, rest) => {
    const rests = (now: number): Report => (now >= 20 * MIN && now < 25 * MIN ? rest : work);
    expect(stuckAt(policyWith(''), 90 * MIN, rests)).toBe(55 * MIN + 1);
  });

  test('absences count from the task that an idle agent takes', () => {
    const takes = (now: number): Report => {
      if (now < 20 * MIN) return work;
      return { ...work, task_id: 'T-2', activity: now < 25 * MIN ? 'idle' : 'working' };
    };
    expect(stuckAt(policyWith(''), 90 * MIN, takes)).toBe(55 * MIN + 1);
  });
});

describe('a wait and silence', () => {
  test('a wait that the reports have shown is left out when the runtime then falls silent', () => {
    const silent = (now: number): Report | null => {
      const report = now < 10 * MIN ? work : asks;
      return now > 50 * MIN ? null : { reporter: 'runtime', ...report };
    };
    // 10 minutes of work, and the silence from minute 50 on: nothing shows that it was a wait
    expect(stuckAt(policyWith(''), 120 * MIN, silent)).toBe(70 * MIN + 1);
  });

  test('a runtime that returns and reports the same wait has shown that it lasted', () => {
    const returns = (now: number): Report | null => {
      if (now > 20 * MIN && now < 80 * MIN) return null;
      return { reporter: 'runtime', ...(now >= 10 * MIN && now <= 80 * MIN ? asks : work) };
    };
    const decider = policyWith('', 'heartbeat: { trusted_for: 90m }');
    expect(stuckAt(decider, 120 * MIN, returns)).toBe(80 * MIN + 10 * SEC + 20 * MIN + 1);
  });
});

test('a call has its whole time, without that in which its permission was open', () => {
  const decider = agentHealth(
    policyOf(`
policy: p
signals: { call_overdue: { buffer: 0s } }
states: { STUCK: [call_overdue] }
exemptions: { starting: false }
`),
  );
  const running = call('c1', { outcome: 'running', started_at: T0, deadline_at: T0 + 10 * MIN });
  const report = (now: number): Report => {
    const activity = now >= 2 * MIN && now < 5 * MIN ? asks : work;
    return now === 0 ? { ...activity, tool_calls: [running] } : activity;
  };
  expect(stuckAt(decider, 30 * MIN, report)).toBe(13 * MIN + 1);
});

test('the judgement and its next deadline agree at every end of a wait', () => {
  const decider = policyWith('');
  const agent = given(decider, T0);
  for (let now = 0; now <= 33 * MIN; now += 10 * SEC) agent.receive(heartbeat(now, every(asks)(now)), T0 + now);
  expect(brief(agent.all())).not.toContain('HEALTHY → STUCK');
  expect(decider.dueAt(agent.state(), agent.clock())).toBe(T0 + 33 * MIN + 1);
  expect(brief(agent.passTo(T0 + 33 * MIN + 1))).toContain('HEALTHY → STUCK');
});
