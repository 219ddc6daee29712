import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { given } from '@vigil/stream/testing';
import { describe, expect, test } from 'vitest';
import { evaluate } from '../evaluator/evaluate.ts';
import { type Announcement, agentHealth } from '../evaluator/health.ts';
import { at, call, type HeartbeatPayload, heartbeat, policyOf, T0 } from '../fixture.ts';
import type { Heartbeats } from '../signals/testing/case.ts';
import { MIN, output, preset, SEC, work } from './judging.fixture.ts';

const ended = example(Topic.agentObservation, 'AGENT_EXITED', {
  agentId: 'a1',
  instanceId: 'a1.i1',
  reason: 'crashed',
});

const gascity = preset('gascity');
/** The preset as a city writes it that has switched the sweep on. */
const city = (patterns: readonly string[] = []) => {
  const document = JSON.parse(gascity.policy.document);
  const signals = { ...document.signals, error_pattern: { ...document.signals.error_pattern, patterns } };
  return policyOf(JSON.stringify({ ...document, enabled: true, signals }));
};
const agentOf = (patterns: readonly string[] = []) => given(agentHealth(city(patterns)), T0);
const runtime: Partial<HeartbeatPayload> = { reporter: 'runtime', activity: 'working' };
const wisp = (updatedAt: number) => work({ updated_at: T0 + updatedAt });
const pane = (ms: number, ...sources: readonly string[]) =>
  output({
    lines: 60,
    matched_patterns: sources.map((source) => ({ kind: 'error', source, at: T0 + ms, line: null })),
  });
/** Active, then its work item is updated, and nothing more of its own: only its runtime sends heartbeats. */
const wedged: Heartbeats = [
  [0, { ...runtime, agent_heartbeat_at: T0, ...wisp(-SEC) }],
  [SEC, { ...runtime, ...wisp(SEC) }],
];
const receive = (agent: ReturnType<typeof agentOf>, heartbeats: Heartbeats): readonly Announcement[] =>
  heartbeats.flatMap(([ms, more]) => agent.receive(heartbeat(ms, more), T0 + ms));
const stuck = (emitted: readonly Announcement[]) =>
  emitted.flatMap((one) => (one.type === 'WARRANT_FILED' ? [one.payload] : []));

describe('stuck tracker', () => {
  test('disabled: observes and files nothing', () => {
    expect(gascity.policy.enabled).toBe(false);
    expect(gascity.at(wedged, 11 * MIN)).toMatchObject({ state: 'STUCK', plan: null });
  });

  test('fifty lines are searched', () => {
    expect(gascity.limits('error_pattern')).toEqual({ patterns: [], lines: 50 });
  });

  test('progress mismatch: stale work and no I/O since it was updated', () => {
    expect(gascity.at(wedged, 10 * MIN + SEC + 1).fires).toEqual(['no_work_update', 'progress_mismatch']);
  });

  test('boundary equality: ten minutes are not stuck, a millisecond more is', () => {
    expect(gascity.at(wedged, 10 * MIN + SEC).state).toBe('HEALTHY');
    expect(gascity.at(wedged, 10 * MIN + SEC + 1).state).toBe('STUCK');
  });

  test('I/O after the update is not a mismatch, however long ago both are', () => {
    const active: Heartbeats = [...wedged, [2 * SEC, { ...runtime, agent_heartbeat_at: T0 + 2 * SEC }]];
    expect(gascity.at(active, 60 * MIN)).toMatchObject({ state: 'HEALTHY', fires: ['no_work_update'] });
  });

  test('pattern match: stale work and an error in the output', () => {
    const agent = agentOf(['API Error: 400', 'tool_use']);
    const active: Partial<HeartbeatPayload> = {
      ...runtime,
      agent_heartbeat_at: T0 + 11 * MIN,
      ...pane(11 * MIN, 'API Error: 400'),
    };
    receive(agent, [[0, { ...runtime, agent_heartbeat_at: T0, ...wisp(0) }]]);
    expect(stuck(receive(agent, [[11 * MIN, active]]))).toHaveLength(1);
  });

  test('empty patterns: that axis is off, the other is not', () => {
    const agent = agentOf([]);
    receive(agent, [[0, { ...runtime, agent_heartbeat_at: T0, ...wisp(0) }]]);
    const active = { ...runtime, agent_heartbeat_at: T0 + 11 * MIN, ...pane(11 * MIN, 'API Error: 400') };
    expect(stuck(receive(agent, [[11 * MIN, active]]))).toEqual([]);
    const other = agentOf([]);
    expect(stuck([...receive(other, wedged), ...other.passTo(T0 + 11 * MIN)])).toHaveLength(1);
  });

  test('invalid regex: refused, naming its index', () => {
    expect(() => city(['fine', '('])).toThrow(/signals\.error_pattern\.patterns\[1\]/);
  });

  test('an agent with a fresh work item is not stuck, also with errors in its output', () => {
    const agent = agentOf(['API Error: 400']);
    const failing: Partial<HeartbeatPayload> = {
      ...runtime,
      agent_heartbeat_at: T0,
      ...wisp(0),
      ...pane(0, 'API Error: 400'),
    };
    expect(stuck([...receive(agent, [[0, failing]]), ...agent.passTo(T0 + 10 * MIN)])).toEqual([]);
  });

  test('deterministic match joining: sources sorted, by comma', () => {
    const agent = agentOf(['tool_use', 'API Error: 400']);
    receive(agent, [[0, { ...runtime, agent_heartbeat_at: T0, ...wisp(0) }]]);
    const active = { ...runtime, agent_heartbeat_at: T0 + 11 * MIN, ...pane(11 * MIN, 'tool_use', 'API Error: 400') };
    expect(stuck(receive(agent, [[11 * MIN, active]]))[0]?.metadata.matched_pattern).toBe('API Error: 400,tool_use');
  });
});

describe('stuck sweep', () => {
  const file = () => {
    const agent = agentOf();
    return { agent, emitted: [...receive(agent, wedged), ...agent.passTo(T0 + 11 * MIN)] };
  };

  test('no agents: an empty fleet files nothing', () => {
    const ticks = [0, 1, 2].map((i) => ({ clock: at(i * 20 * MIN), input: null }));
    expect([...evaluate(city(), ticks)].flatMap(({ emitted }) => emitted)).toEqual([]);
  });

  test('idempotence: a second tick files nothing; the warrant is only renewed', () => {
    const { agent, emitted } = file();
    expect(stuck(emitted)).toHaveLength(1);
    const later = agent.passTo(T0 + 30 * MIN);
    expect(stuck(later)).toEqual([]);
    expect(later.map(({ type }) => type)).toContain('WARRANT_RENEWED');
  });

  test('fail open: a heartbeat without `work` files nothing', () => {
    const agent = agentOf(['API Error: 400']);
    const heartbeats: Heartbeats = [
      [0, { ...runtime, agent_heartbeat_at: T0, ...pane(0, 'API Error: 400') }],
      [SEC, runtime],
    ];
    expect(stuck([...receive(agent, heartbeats), ...agent.passTo(T0 + 60 * MIN)])).toEqual([]);
    const undated: Heartbeats = [[0, { ...runtime, agent_heartbeat_at: T0, ...work({}) }]];
    const other = agentOf();
    expect(stuck([...receive(other, undated), ...other.passTo(T0 + 60 * MIN)])).toEqual([]);
  });

  test('an agent whose process has ended gets no warrant', () => {
    const agent = agentOf();
    receive(agent, wedged);
    agent.receive({ ...ended, key: 'a1' }, T0 + 5 * MIN);
    expect(stuck(agent.passTo(T0 + 60 * MIN))).toEqual([]);
  });

  test('event on create: one warrant, with the axes that a counter is kept by', () => {
    const { emitted } = file();
    expect(stuck(emitted).map(({ axes, planName, hard }) => ({ axes, planName, hard }))).toEqual([
      { axes: ['absence'], planName: 'STUCK', hard: false },
    ]);
  });

  test('field names pinned: title, label and the six of its metadata', () => {
    const [warrant] = stuck(file().emitted);
    expect(warrant).toMatchObject({ title: 'stuck:a1', label: 'pool:dog' });
    expect(warrant?.metadata).toEqual({
      target: 'a1',
      reason: expect.stringContaining('work item wisp-1 untouched for 10 min'),
      requester: 'controller',
      matched_pattern: '',
      wisp_id: 'wisp-1',
      wisp_age: '10 min 1 s',
    });
  });
});

describe('freshness of a work item', () => {
  test('tiebreaker: an older update of the same work item changes nothing, another work item starts again', () => {
    const older: Heartbeats = [...wedged, [2 * SEC, { ...runtime, ...wisp(0) }]];
    expect(gascity.at(older, 10 * MIN + SEC + 1).state).toBe('STUCK');
    const other: Heartbeats = [
      ...wedged,
      [2 * SEC, { ...runtime, ...work({ id: 'wisp-2', updated_at: T0 + 2 * SEC }) }],
    ];
    expect(gascity.at(other, 10 * MIN + SEC + 1).state).toBe('HEALTHY');
  });
});

test('the shutdown dance: 60, 120 and 240 s, its message to the letter, then the end', () => {
  expect(gascity.steps('STUCK')).toMatchObject([
    { step: 'interrogate', waitsMs: [60 * SEC, 120 * SEC, 240 * SEC] },
    { step: 'terminate', graceMs: 30 * SEC, requires: [] },
  ]);
  const filled: Readonly<Record<string, string>> = { agent: '{target}', attempts: '3' };
  const [dance] = gascity.steps('STUCK');
  const emitted =
    dance?.step === 'interrogate' ? dance.message.replace(/\{(\w+)\}/g, (all, name) => filled[name] ?? all) : '';
  expect(emitted.split('\n').slice(0, 4)).toEqual([
    '[DOG] HEALTH CHECK: Session {target}, respond ALIVE within {timeout}s or face termination.',
    'Warrant reason: {reason}',
    'Filed by: controller',
    'Attempt: {attempt}/3',
  ]);
  expect(emitted).toContain('{nonce}');
});

test.each([
  ['waits at its prompt', { activity: 'awaiting_input', waiting_for: { kind: 'prompt', text: null, since: T0 } }],
  ['looks idle', { activity: 'idle' }],
  ['reports a hand-off', { activity: 'handing_off' }],
  ['reports a rate limit', { rate_limit: { retry_at: T0 + 60 * MIN } }],
  [
    'has a call in flight',
    {
      activity: 'working',
      tool_calls: [call('c1', { outcome: 'running', started_at: T0, deadline_at: T0 + 60 * MIN })],
    },
  ],
] as const)('a session that is wedged is stuck, also if it %s', (_, more) => {
  const reports = wedged.map(([ms, one]) => [ms, { ...one, ...more }] as const);
  const silent = agentOf();
  receive(silent, reports);
  expect(stuck(silent.passTo(T0 + 10 * MIN + SEC))).toEqual([]);
  expect(stuck(silent.passTo(T0 + 10 * MIN + 2 * SEC))).toHaveLength(1);
  const stale = [[0, { ...runtime, ...more, ...wisp(0), ...pane(0, 'API Error: 400') }]] as const;
  const agent = agentOf(['API Error: 400']);
  receive(agent, stale);
  expect(stuck(agent.passTo(T0 + 10 * MIN))).toEqual([]);
  expect(stuck(agent.passTo(T0 + 10 * MIN + SEC))).toHaveLength(1);
});

test('an open question of a person is an excuse for it, too', () => {
  const asks: Partial<HeartbeatPayload> = {
    ...runtime,
    activity: 'awaiting_input',
    waiting_for: { kind: 'permission', text: null, since: T0 },
  };
  const agent = agentOf(['API Error: 400']);
  receive(agent, [[0, { ...asks, ...wisp(0), ...pane(0, 'API Error: 400') }]]);
  expect(stuck(agent.passTo(T0 + 14 * MIN))).toEqual([]);
});
