import type { WarrantFiledPayload } from '@vigil/events';
import { given } from '@vigil/stream/testing';
import { describe, expect, test } from 'vitest';
import { agentHealth } from '../evaluator/health.ts';
import { call, type HeartbeatPayload, heartbeat, policyOf, presetsWith, T0 } from '../fixture.ts';
import type { Policies } from '../judgement/policies.ts';
import { output } from '../presets/judging.fixture.ts';
import type { Heartbeats } from '../signals/testing/case.ts';

const MIN = 60_000;
const POLICY = `
policy: p
signals:
  no_checkpoint: { after: 30m }
  no_activity: { after: 6m }
  looping: { is: repeated_calls, times: 5 }
  failing: { is: consecutive_failures, above: 3 }
states: { STUCK: [looping, failing, no_activity, no_checkpoint] }
plans: [{ when: STUCK, do: [{ alert: ops }] }]
exemptions: { starting: false }
`;
const checkpoint = (id: string): NonNullable<HeartbeatPayload['checkpoint']> => ({
  ...{ checkpoint_id: id, parent_id: null, uri: null, sha256: null, valid: null, invalid_reason: null },
  ...{ created_at: null, completed_work: [], remaining_work: [] },
});

/** The first warrant, with these heartbeats and then silence until `ms`. */
const warrantOf = (policies: Policies, heartbeats: Heartbeats, ms: number): WarrantFiledPayload | undefined => {
  const agent = given(agentHealth(policies), T0);
  for (const [at, more] of heartbeats) agent.receive(heartbeat(at, more), T0 + at);
  agent.passTo(T0 + ms);
  return agent.all().flatMap((one) => (one.type === 'WARRANT_FILED' ? [one.payload] : []))[0];
};
const rounded = (minutes: number | null | undefined): number | null =>
  typeof minutes === 'number' ? Math.round(minutes) : null;
const minutesOf = (heartbeats: Heartbeats, ms: number): number | null => {
  const warrant = warrantOf(policyOf(POLICY), heartbeats, ms);
  expect(warrant).toBeDefined();
  return rounded(warrant?.workedMinutes);
};

test('without a checkpoint it is the time since the last one, or since the start', () => {
  const works = (from: number) =>
    Array.from({ length: 40 }, (_, i): Heartbeats[number] => [
      i * MIN,
      {
        tool_calls: [call(`c${i}`, { args_hash: `a${i}` })],
        reports_checkpoints: true,
        ...(i * MIN === from ? { checkpoint: checkpoint('k') } : {}),
      },
    ]);
  expect(minutesOf(works(5 * MIN), 39 * MIN)).toBe(30);
  expect(minutesOf(works(-1), 39 * MIN)).toBe(30);
});

test('without a checkpoint it is the whole time, also where a wait for a permission does not count', () => {
  const works = Array.from({ length: 60 }, (_, i): Heartbeats[number] => [
    i * MIN,
    {
      tool_calls: [call(`c${i}`, { args_hash: `a${i}` })],
      reports_checkpoints: true,
      activity: i >= 10 && i < 15 ? ('awaiting_input' as const) : ('working' as const),
    },
  ]);
  const policies = policyOf(POLICY.replace('starting: false', 'starting: false, awaiting_input: true'));
  const warrant = warrantOf(policies, works, 59 * MIN);
  expect(rounded(warrant?.workedMinutes)).toBe(35);
  expect(warrant?.finding).toContain('no checkpoint for 35 min');
});

test('in silence it is the time since the last activity, not since a checkpoint', () => {
  const silent: Heartbeats = [
    [0, { checkpoint: checkpoint('k') }],
    [5 * MIN, { tool_calls: [call('c1')] }],
  ];
  expect(minutesOf(silent, 12 * MIN)).toBe(6);
});

test('in a loop it is the time since its first call', () => {
  const saved: Heartbeats[number] = [0, { checkpoint: checkpoint('k') }];
  const loops = Array.from({ length: 5 }, (_, i): Heartbeats[number] => [
    (5 + 2 * i) * MIN,
    { tool_calls: [call(`c${i}`)] },
  ]);
  expect(minutesOf([saved, ...loops], 13 * MIN)).toBe(8);
});

test('in a loop whose calls came in one heartbeat it is the time without a checkpoint, because theirs is unknown', () => {
  const works: Heartbeats = [
    [0, {}],
    [4 * MIN, {}],
  ];
  const loops: Heartbeats[number] = [7 * MIN, { tool_calls: Array.from({ length: 5 }, (_, i) => call(`c${i}`)) }];
  expect(minutesOf([...works, loops], 7 * MIN)).toBe(7);
});

test('of a finding without a time of its own it is the time without a checkpoint', () => {
  const fails = Array.from({ length: 4 }, (_, i): Heartbeats[number] => [
    i * MIN,
    { tool_calls: [call(`c${i}`, { args_hash: `a${i}`, outcome: 'error', result_hash: null })] },
  ]);
  expect(minutesOf(fails, 4 * MIN)).toBe(3);
});

describe('the idle minutes of a stall, as omniclaude has them, are those since the last tool call', () => {
  const prints = (at: number): Heartbeats[number] => [at, output({ last_output_at: T0 + at, lines: at })];
  const works: Heartbeats[number] = [0, { task_id: 'T', last_tool_call: null, activity: 'working' }];
  const idleOf = (heartbeats: Heartbeats): number | null =>
    rounded(warrantOf(presetsWith('omniclaude'), heartbeats, 10 * MIN)?.idleMinutes);

  test('of an agent that has called', () => {
    expect(idleOf([works, [MIN, { tool_calls: [call('c1')] }], prints(2.9 * MIN)])).toBe(2);
  });

  test('of one that never called since its start, not since its last output', () => {
    expect(idleOf([works, prints(1.9 * MIN)])).toBe(2);
  });

  test('of one that waited for its first task since it got one', () => {
    const rests: Heartbeats[number] = [0, { task_id: null, last_tool_call: null, activity: 'idle' }];
    expect(idleOf([rests, [5 * MIN, works[1]], prints(6.9 * MIN)])).toBe(2);
  });
});
