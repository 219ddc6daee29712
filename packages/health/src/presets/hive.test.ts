import { given } from '@vigil/stream/testing';
import { describe, expect, test } from 'vitest';
import { type Announcement, agentHealth } from '../evaluator/health.ts';
import { call, type HeartbeatPayload, heartbeat, presetsWith, T0 } from '../fixture.ts';
import type { Heartbeats } from '../signals/testing/case.ts';
import { each, MIN, preset, SEC } from './judging.fixture.ts';

const hive = preset('hive');
const steps = (
  total_steps: number,
  ...verdicts: NonNullable<HeartbeatPayload['steps']>['verdicts']
): Partial<HeartbeatPayload> => ({
  steps: { total_steps, verdicts },
});
/** An ACCEPT, then `n` steps without one. */
const since = (n: number, verdict: 'RETRY' | 'CONTINUE' = 'CONTINUE'): Heartbeats =>
  each(n + 1, (i) => steps(i + 1, i === 0 ? 'ACCEPT' : verdict));
const tickets = (emitted: readonly Announcement[]) =>
  emitted.flatMap((one) => (one.type === 'WORKER_ESCALATION_TICKET' ? [one.payload.ticket.severity] : []));
const stateAfter = (n: number) => hive.at(since(n), n * SEC).state;

describe('the bands', () => {
  test.each([
    [4, 'HEALTHY'],
    [5, 'DEGRADED'],
    [9, 'DEGRADED'],
    [14, 'DEGRADED'],
    [19, 'DEGRADED'],
    [20, 'FAILING'],
  ])('%i steps since the last ACCEPT: %s', (n, state) => {
    expect(stateAfter(n)).toBe(state);
  });

  test('tickets: medium from 10 where a loop shows, high from 15, critical from 20; 5..9 warns without one', () => {
    expect(hive.policy.ticket).toEqual({
      bands: [
        { at: 10, severity: 'medium', needsLoop: true },
        { at: 15, severity: 'high', needsLoop: false },
        { at: 20, severity: 'critical', needsLoop: false },
      ],
      stallMs: 4 * MIN,
      graceMs: 4 * MIN,
    });
  });

  test('a stall of four minutes counts at them', () => {
    const heartbeats = [[0, steps(7, 'ACCEPT')]] as const;
    expect(hive.at(heartbeats, 4 * MIN - 1).state).toBe('HEALTHY');
    expect(hive.at(heartbeats, 4 * MIN)).toMatchObject({ state: 'STUCK', fires: ['no_step'] });
  });

  describe('its first check, at two minutes, files nothing; its second, at four minutes, files', () => {
    test('a stall of four minutes', () => {
      const agent = given(agentHealth(presetsWith('hive')), T0);
      agent.receive(heartbeat(0, steps(7, 'ACCEPT')));
      expect(tickets(agent.passTo(T0 + 4 * MIN - 1))).toEqual([]);
      expect(tickets(agent.passTo(T0 + 4 * MIN))).toEqual(['critical']);
    });

    /** 25 steps without an ACCEPT in the first minute. */
    const eager = () => {
      const agent = given(agentHealth(presetsWith('hive')), T0);
      agent.receive(heartbeat(0, steps(1, 'ACCEPT')));
      agent.receive(heartbeat(MIN, steps(26, 'CONTINUE')), T0 + MIN);
      return agent;
    };

    test('25 steps that came before the first', () => {
      const agent = eager();
      expect(tickets(agent.passTo(T0 + 2 * MIN))).toEqual([]);
      expect(tickets(agent.passTo(T0 + 4 * MIN - 1))).toEqual([]);
      expect(tickets(agent.passTo(T0 + 4 * MIN))).toEqual(['critical']);
    });

    test('no steps that an ACCEPT ended between the two', () => {
      const agent = eager();
      expect(tickets(agent.receive(heartbeat(3 * MIN, steps(27, 'ACCEPT')), T0 + 3 * MIN))).toEqual([]);
      expect(tickets(agent.passTo(T0 + 6 * MIN))).toEqual([]);
    });
  });

  test('a loop is the same call or the same error three times, within ten minutes', () => {
    expect(hive.limits('repeated_calls')).toMatchObject({ times: 3 });
    expect(hive.limits('repeated_error')).toEqual({ times: 3, within: 10 * MIN });
    const looping = (times: number) => {
      const agent = given(agentHealth(presetsWith('hive')), T0);
      agent.receive(heartbeat(0, steps(1, 'ACCEPT')));
      agent.receive(heartbeat(3 * MIN, steps(2, 'ACCEPT')), T0 + 3 * MIN);
      const tool_calls = Array.from({ length: times }, (_, i) => call(`c${i}`));
      const verdicts = Array.from({ length: 10 }, () => 'CONTINUE' as const);
      return tickets(agent.receive(heartbeat(5 * MIN, { ...steps(12, ...verdicts), tool_calls }), T0 + 5 * MIN));
    };
    expect(looping(2)).toEqual([]);
    expect(looping(3)).toEqual(['medium']);
  });

  test('an ACCEPT ends it', () => {
    const heartbeats = [...since(9), [10 * SEC, steps(11, 'ACCEPT')]] as const;
    expect(hive.at(heartbeats, 10 * SEC).state).toBe('HEALTHY');
  });
});

test('it never acts on the worker: there is no plan, so no warrant', () => {
  expect(hive.policy.plans).toEqual([]);
  expect(hive.at(since(25), 25 * SEC).plan).toBe(null);
});

test('people get its tickets after triage, and no alert of a state', () => {
  expect(hive.policy.alerts).toEqual({ stuck_agent: false, circuit_breaker_open: false });
  expect(hive.policy.ticket).not.toBeNull();
});

test('one that waits for its user is not stalled', () => {
  const heartbeats = [[0, { ...steps(7, 'ACCEPT'), activity: 'awaiting_input' }]] as const;
  expect(hive.at(heartbeats, 60 * MIN).state).toBe('HEALTHY');
});

test.each<[string, Partial<HeartbeatPayload>]>([
  ['a hand-off', { activity: 'handing_off' }],
  ['a rate limit', { rate_limit: { retry_at: T0 + 60 * MIN } }],
  ['idling in its session', { activity: 'idle' }],
])('%s does not excuse a stall', (_, more) => {
  const heartbeats = [[0, { ...steps(7, 'ACCEPT'), ...more }]] as const;
  expect(hive.at(heartbeats, 4 * MIN)).toMatchObject({ state: 'STUCK', fires: ['no_step'] });
});

test('of a worker that logs no steps nothing is announced', () => {
  expect(hive.at([[0, { timestamp: T0 }]], 600 * MIN)).toEqual({ state: 'HEALTHY', fires: [], plan: null });
});

test('a model call that hangs is seen after four minutes, with any deadline of its own', () => {
  const hangs = (kind: 'model' | 'tool'): Heartbeats => [
    [0, { ...steps(7, 'ACCEPT') }],
    [SEC, { tool_calls: [call('c1', { kind, outcome: 'running', started_at: T0 + SEC, deadline_at: T0 + 60 * MIN })] }],
  ];
  expect(hive.at(hangs('model'), 4 * MIN + SEC).state).toBe('HEALTHY');
  expect(hive.at(hangs('model'), 4 * MIN + SEC + 1)).toMatchObject({ state: 'STUCK', fires: ['no_step'] });
  expect(hive.at(hangs('tool'), 10 * MIN).state).toBe('HEALTHY');
});

test('model calls that end and are sent again do not restart the four minutes: a stall is a stall', () => {
  const retries: Heartbeats = [
    [0, { ...steps(3, 'ACCEPT') }],
    ...[0, 1, 2].flatMap((i): Heartbeats => {
      const call_id = `c${i}`;
      const started_at = T0 + SEC + i * 3 * MIN;
      const ended = { kind: 'model', outcome: 'error', error_class: 'TimeoutError', started_at } as const;
      return [
        [SEC + i * 3 * MIN, { tool_calls: [call(call_id, { kind: 'model', outcome: 'running', started_at })] }],
        [3 * MIN * (i + 1), { tool_calls: [call(call_id, { ...ended, ended_at: T0 + 3 * MIN * (i + 1) })] }],
      ];
    }),
  ];
  expect(hive.at(retries, 4 * MIN - 1).state).toBe('HEALTHY');
  expect(hive.at(retries, 4 * MIN + SEC + 1)).toMatchObject({ state: 'STUCK', fires: ['no_step'] });
  expect(hive.at(retries, 9 * MIN).state).toBe('STUCK');
});

test('a stall gets its ticket although model calls that time out follow each other without a pause', () => {
  const agent = given(agentHealth(presetsWith('hive')), T0);
  agent.receive(heartbeat(0, steps(3, 'ACCEPT')));
  /** A call is sent every 111 s and times out after 110 s; heartbeats are 30 s apart. */
  for (let ms = 30 * SEC; ms <= 8 * MIN; ms += 30 * SEC) {
    const last = Math.floor((ms - 5 * SEC) / (111 * SEC));
    const tool_calls = Array.from({ length: last + 1 }, (_, i) => {
      const from = T0 + 5 * SEC + i * 111 * SEC;
      const isOver = from + 110 * SEC <= T0 + ms;
      const end = isOver
        ? ({ outcome: 'error', error_class: 'TimeoutError', ended_at: from + 110 * SEC } as const)
        : ({ outcome: 'running' } as const);
      return call(`m${i}`, { kind: 'model', started_at: from, ...end });
    }).slice(-2);
    agent.receive(heartbeat(ms, { tool_calls }), T0 + ms);
  }
  expect(tickets(agent.all())).toEqual(['critical']);
});

test.each([
  ['unrecoverable', 'FAILING'],
  ['permission_error', 'FAILING'],
  ['overloaded', 'HEALTHY'],
] as const)('after an error of class %s the agent is %s', (kind, state) => {
  const errors = [{ at: T0, count: 1, error_class: kind, hash: null, message: null }];
  expect(hive.at([[0, { errors }]], 0).state).toBe(state);
});

test.each(['unrecoverable', 'authentication_error'])(
  '%s is an unrecoverable state, named in the next ticket',
  (kind) => {
    const errors = [{ at: T0 + 20 * SEC, count: 1, error_class: kind, hash: null, message: null }];
    const agent = given(agentHealth(presetsWith('hive')), T0);
    for (const [ms, more] of since(15))
      agent.receive(heartbeat(ms, { ...more, errors: ms === 10 * SEC ? errors : [] }), T0 + ms);
    const [ticket] = agent
      .passTo(T0 + 5 * MIN)
      .concat(agent.all())
      .flatMap((one) => (one.type === 'WORKER_ESCALATION_TICKET' ? [one.payload] : []));
    expect(ticket?.findings.unrecoverable).toBe(true);
  },
);

describe('genuine progress in a ticket for an agent with an unrecoverable error', () => {
  const failed = (ms: number): Partial<HeartbeatPayload> => ({
    errors: [{ at: T0 + ms, count: 1, error_class: 'unrecoverable', hash: null, message: null }],
  });
  const succeeded: Partial<HeartbeatPayload> = { tool_calls: [call('c1', { args_hash: 'npm test' })] };
  /** The findings of the first ticket, with these reports among fifteen steps without an ACCEPT. */
  const findingsWith = (reports: Readonly<Record<number, Partial<HeartbeatPayload>>>) => {
    const agent = given(agentHealth(presetsWith('hive')), T0);
    for (const [ms, more] of since(15)) agent.receive(heartbeat(ms, { ...more, ...reports[ms / SEC] }), T0 + ms);
    agent.passTo(T0 + 5 * MIN);
    return agent.all().flatMap((one) => (one.type === 'WORKER_ESCALATION_TICKET' ? [one.payload.findings] : []))[0];
  };

  test('did not come despite the error where it came before it', () => {
    const findings = findingsWith({ 8: succeeded, 10: failed(10 * SEC) });
    expect(findings).toMatchObject({ unrecoverable: true, progressAt: null });
  });

  test('shows that the error was none where it came after it', () => {
    const findings = findingsWith({ 10: failed(10 * SEC), 12: succeeded });
    expect(findings).toMatchObject({ unrecoverable: false, progressAt: T0 + 12 * SEC });
  });
});

test('a timeout that has resolved itself is transient, and never beside an unrecoverable error', () => {
  const findingsWith = (errors: NonNullable<HeartbeatPayload['errors']>) => {
    const agent = given(agentHealth(presetsWith('hive')), T0);
    const timeout = call('t', { outcome: 'error', error_class: 'TimeoutError', result_hash: 't' });
    for (const [ms, more] of since(15)) {
      const tool_calls = ms === 8 * SEC ? [timeout, call('ok', { result_hash: 'read' })] : [];
      agent.receive(heartbeat(ms, { ...more, tool_calls, errors: ms === 10 * SEC ? errors : [] }), T0 + ms);
    }
    agent.passTo(T0 + 5 * MIN);
    return agent.all().flatMap((one) => (one.type === 'WORKER_ESCALATION_TICKET' ? [one.payload.findings] : []))[0];
  };
  const unrecoverable = { at: T0 + 10 * SEC, count: 1, error_class: 'unrecoverable', hash: null, message: null };
  expect(findingsWith([])).toMatchObject({ unrecoverable: false, transient: true });
  expect(findingsWith([unrecoverable])).toMatchObject({ unrecoverable: true, transient: false });
});

test('a first failure is new, and not genuine progress; a success is', () => {
  const ticketAfter = (outcome: 'ok' | 'error') => {
    const agent = given(agentHealth(presetsWith('hive')), T0);
    for (const [ms, more] of since(15)) {
      const first = ms === 2 * SEC ? [call('c1', { args_hash: 'npm test', outcome })] : [];
      agent.receive(heartbeat(ms, { ...more, tool_calls: first }), T0 + ms);
    }
    agent.passTo(T0 + 5 * MIN);
    return agent
      .all()
      .flatMap((one) => (one.type === 'WORKER_ESCALATION_TICKET' ? [one.payload.findings.progressAt] : []))[0];
  };
  expect(ticketAfter('error')).toBe(null);
  expect(ticketAfter('ok')).toBe(T0 + 2 * SEC);
});
