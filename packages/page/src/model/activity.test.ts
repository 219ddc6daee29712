import { expect, test } from 'vitest';
import { activityAfter, type HeartbeatEvent, NO_ACTIVITY } from './activity.ts';

const heartbeat = (occurredAt: number, payload: object): HeartbeatEvent => ({
  occurredAt,
  payload: { timestamp: occurredAt - 100, tool_calls: [], context: null, ...payload } as HeartbeatEvent['payload'],
});
const call = (call_id: string, outcome: string, started_at: number | null, ended_at: number | null) => ({
  ...{ call_id, tool: 'Bash', outcome, started_at, ended_at },
});

test('a call is in flight until a heartbeat has its end, on the clock of the broker', () => {
  const begun = activityAfter(NO_ACTIVITY, heartbeat(1000, { tool_calls: [call('c', 'running', 850, null)] }));
  expect(begun.calls).toEqual([{ id: 'c', tool: 'Bash', from: 950, to: null, outcome: 'in flight' }]);
  const ended = activityAfter(begun, heartbeat(2000, { tool_calls: [call('c', 'ok', null, 1900)] }));
  expect(ended.calls).toEqual([{ id: 'c', tool: 'Bash', from: 950, to: 2000, outcome: 'ok' }]);
});

test('a refused or failed call has failed', () => {
  const { calls } = activityAfter(
    NO_ACTIVITY,
    heartbeat(1000, { tool_calls: [call('a', 'error', 800, 900), call('b', 'refused', 800, 900)] }),
  );
  expect(calls.map(({ outcome }) => outcome)).toEqual(['failed', 'failed']);
});

test('a context that loses more than a quarter of its room at once was compacted; one that grows was not', () => {
  const context = (tokens_used: number) => ({ context: { tokens_used, tokens_max: 100 } });
  const compactions = (...used: readonly number[]) =>
    used.reduce((before, each, i) => activityAfter(before, heartbeat(i + 1, context(each))), NO_ACTIVITY).compactions;
  expect(compactions(80, 54)).toEqual([2]);
  expect(compactions(80, 55)).toEqual([]);
  expect(compactions(40, 80, 100)).toEqual([]);
});
