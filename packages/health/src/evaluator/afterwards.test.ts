import { given } from '@vigil/stream/testing';
import { describe, expect, test } from 'vitest';
import { call, type HeartbeatPayload, heartbeat, policyOf, T0 } from '../fixture.ts';
import { output } from '../signals/testing/cases-absence.ts';
import { explain } from './explain.ts';
import { agentHealth } from './health.ts';

const MINUTE = 60_000;
const policies = (exemptions: string) =>
  policyOf(`
policy: afterwards
signals: { no_output: { after: 5m }, no_checkpoint: { after: 10m }, token_burn: { for: 10m } }
states: {}
exemptions: { ${exemptions} }
`);

/** When each signal fires after the heartbeats, minutes after T0; null if it does not. */
const after = (
  heartbeats: readonly (readonly [minute: number, more: Partial<HeartbeatPayload>])[],
  exemptions = '',
) => {
  const all = policies(exemptions);
  const agent = given(agentHealth(all), T0);
  for (const [minute, more] of heartbeats) agent.receive(heartbeat(minute * MINUTE, more), T0 + minute * MINUTE);
  const explained = explain(all, agent.state(), agent.clock())?.signals ?? [];
  return Object.fromEntries(
    explained.map(({ signal, firesFrom }) => [signal, firesFrom && (firesFrom - T0 - 1) / MINUTE]),
  );
};
const runtime: Partial<HeartbeatPayload> = { reporter: 'runtime', reports_checkpoints: true };
const shown: Partial<HeartbeatPayload> = { ...runtime, ...output({ last_output_at: T0 }) };
const DEADLINE_AT = T0 + 20 * MINUTE;

describe('after a call that was in flight', () => {
  const flying = [
    0,
    { ...shown, tool_calls: [call('c1', { outcome: 'running', started_at: T0, deadline_at: DEADLINE_AT })] },
  ] as const;
  const landed = [8, { ...runtime, tool_calls: [call('c1', { ended_at: T0 + 8 * MINUTE })] }] as const;

  test('output counts from the end of the call; a checkpoint that is due anyway does not', () => {
    expect(after([flying, landed])).toMatchObject({ no_output: 13, no_checkpoint: 10 });
  });

  test('no timer restarts for a call that was never in flight, or if the exemption is switched off', () => {
    expect(after([[0, shown], landed], 'starting: false')).toMatchObject({ no_output: 5 });
    expect(after([flying, landed], 'starting: false, call_in_flight: false')).toMatchObject({ no_output: 5 });
  });
});

test('the time before a task does not count against an idle agent that takes one', () => {
  const waiting = { ...shown, task_id: null, runtime_id: null };
  const begun = {
    ...runtime,
    runtime_id: null,
    task_id: 'T-1',
    tool_calls: [call('c1', { ended_at: T0 + 60 * MINUTE })],
  };
  expect(
    after([
      [0, waiting],
      [60, begun],
    ]),
  ).toMatchObject({ no_output: 65, no_checkpoint: 70 });
  expect(
    after(
      [
        [0, waiting],
        [60, begun],
      ],
      'idle: false',
    ),
  ).toMatchObject({ no_output: 5, no_checkpoint: 10 });
});

test('a wait is left out of a signal of cost only if it suspends cost', () => {
  const uses = (from: number, to: number, activity: HeartbeatPayload['activity']) =>
    Array.from(
      { length: to - from + 1 },
      (_, i) => [from + i, { token_count: 10 * (from + i + 1), activity }] as const,
    );
  const through = (activity: HeartbeatPayload['activity']) =>
    after([...uses(0, 5, 'working'), ...uses(6, 7, activity), ...uses(8, 14, 'working')]).token_burn;
  expect(through('awaiting_input')).toBe(10);
  expect(through('working')).toBe(10);
  expect(through('paused')).toBe(12);
  expect(through('idle')).toBe(12);
});
