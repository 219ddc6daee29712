import { given } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { agentHealth } from '../evaluator/health.ts';
import { call, type HeartbeatPayload, heartbeat, policyOf, T0 } from '../fixture.ts';
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

/** The minutes of the first warrant, with these heartbeats and then silence until `ms`. */
const minutesOf = (heartbeats: Heartbeats, ms: number): number | null => {
  const agent = given(agentHealth(policyOf(POLICY)), T0);
  for (const [at, more] of heartbeats) agent.receive(heartbeat(at, more), T0 + at);
  agent.passTo(T0 + ms);
  const filed = agent.all().flatMap((one) => (one.type === 'WARRANT_FILED' ? [one.payload.workedMinutes] : []));
  expect(filed).not.toEqual([]);
  const [minutes = null] = filed;
  return minutes === null ? null : Math.round(minutes);
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

test('in silence it is the time since the last activity, not since a checkpoint', () => {
  const silent: Heartbeats = [
    [0, { checkpoint: checkpoint('k') }],
    [20 * MIN, { tool_calls: [call('c1')] }],
  ];
  expect(minutesOf(silent.slice(1), 30 * MIN)).toBe(6);
  expect(minutesOf([[0, { checkpoint: checkpoint('k'), tool_calls: [call('c1')] }]], 10 * MIN)).toBe(6);
});

test('in a loop it is the time since its first call', () => {
  const loops = Array.from({ length: 5 }, (_, i): Heartbeats[number] => [
    (10 + 2 * i) * MIN,
    { tool_calls: [call(`c${i}`)], ...(i === 0 ? { checkpoint: checkpoint('k') } : {}) },
  ]);
  expect(minutesOf(loops, 18 * MIN)).toBe(8);
});

test('of a finding without a time of its own it is the time without a checkpoint', () => {
  const fails = Array.from({ length: 4 }, (_, i): Heartbeats[number] => [
    i * MIN,
    { tool_calls: [call(`c${i}`, { args_hash: `a${i}`, outcome: 'error', result_hash: null })] },
  ]);
  expect(minutesOf(fails, 4 * MIN)).toBe(3);
});
