import { given } from '@vigil/stream/testing';
import { describe, expect, test } from 'vitest';
import { agentHealth } from '../evaluator/health.ts';
import { brief, call, type HeartbeatPayload, heartbeat, presetsWith, T0 } from '../fixture.ts';
import { preset, SEC } from '../presets/judging.fixture.ts';
import type { Heartbeats } from './testing/case.ts';

const turn = (open: boolean, event: number, more: Partial<HeartbeatPayload> = {}): Partial<HeartbeatPayload> => ({
  reporter: 'runtime',
  turn: { open, started_at: T0 + (open ? event : 0), last_event_at: T0 + event },
  ...more,
});
const error = (error_class: string) => ({ at: T0, count: 1, error_class, hash: null, message: null });
const wedged: Heartbeats = [
  [0, turn(true, 0, { activity: 'working', tool_calls: [call('c0')] })],
  [SEC, turn(false, SEC, { activity: 'blocked', errors: [error('invalid_request')] })],
  [9 * SEC, turn(false, SEC, { activity: 'blocked' })],
];

describe.each(['vigil', 'demo'])('under %s, a turn that failed with an error that does not pass', (name) => {
  const policy = preset(name);
  const at = 10 * SEC;
  const fires = (more: Heartbeats) => policy.at([...wedged, ...more], at).fires;

  test('is STUCK at once, with the error as evidence, and its plan escalates to people', () => {
    expect(policy.at(wedged, SEC)).toEqual({ state: 'STUCK', fires: ['blocked'], plan: 'STUCK or FAILING' });
    expect(policy.steps('STUCK or FAILING').map(({ step }) => step)).toEqual(
      expect.arrayContaining(['alert', 'escalate']),
    );
  });

  test('stays STUCK as long as it is blocked, also when the next turn starts', () => {
    expect(fires([])).toContain('blocked');
    expect(fires([[at, turn(true, at, { activity: 'working' })]])).toContain('blocked');
  });

  test.each<[string, Partial<HeartbeatPayload>]>([
    ['a call', turn(true, at, { activity: 'working', tool_calls: [call('c1')] })],
    ['tokens', turn(true, at, { activity: 'working', token_count: 900 })],
    [
      'an event after the start of the turn',
      { turn: { open: true, started_at: T0 + at - 1, last_event_at: T0 + at }, activity: 'working' },
    ],
    ['a turn that ends well', turn(false, at, { activity: 'awaiting_input' })],
  ])('is over with %s', (_, more) => {
    expect(fires([[at, more]])).not.toContain('blocked');
  });
});

test('an agent that reports itself blocked is blocked without an error, and its report is an answer; a failed turn is not an answer', () => {
  const decider = agentHealth(presetsWith('vigil'));
  const own = given(decider, T0);
  own.receive(heartbeat(0, { tool_calls: [call('c0')] }));
  expect(brief(own.receive(heartbeat(SEC, { activity: 'blocked' }), T0 + SEC))).toEqual(
    expect.arrayContaining(['AGENT_ANSWERED self_report', 'HEALTHY → STUCK']),
  );
  expect(brief(own.receive(heartbeat(2 * SEC, { activity: 'working' }), T0 + 2 * SEC))).toContain('STUCK → HEALTHY');
  const client = given(decider, T0);
  for (const [ms, more] of wedged) client.receive(heartbeat(ms, more), T0 + ms);
  expect(brief(client.all())).toContain('HEALTHY → STUCK');
  expect(brief(client.all())).not.toContain('AGENT_ANSWERED self_report');
});

test('a warrant for a blocked turn awaits no mark, so its orders hold until the next judgement', () => {
  const agent = given(agentHealth(presetsWith('vigil')), T0);
  for (const [ms, more] of wedged) agent.receive(heartbeat(ms, more), T0 + ms);
  const filed = agent.all().flatMap((emitted) => (emitted.type === 'WARRANT_FILED' ? [emitted.payload] : []));
  expect(filed).toMatchObject([
    {
      awaits: [[]],
      hard: true,
      finding: expect.stringContaining('invalid_request'),
      advice: expect.stringMatching(/./),
    },
  ]);
});
