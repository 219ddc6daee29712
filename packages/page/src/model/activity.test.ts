import type { HistoryRow } from '@vigil/read-model';
import { expect, test } from 'vitest';
import { activityAfter, activityOf, activityWith, type HeartbeatEvent, NO_ACTIVITY } from './activity.ts';

const heartbeat = (occurredAt: number, payload: object): HeartbeatEvent => ({
  occurredAt,
  payload: {
    timestamp: occurredAt - 100,
    instance_id: 'i',
    tool_calls: [],
    context: null,
    ...payload,
  } as HeartbeatEvent['payload'],
});
const call = (call_id: string, outcome: string, started_at: number | null, ended_at: number | null) => ({
  ...{ call_id, tool: 'Bash', outcome, started_at, ended_at },
});

test('a call is in flight until a heartbeat has its end, on the clock of the broker', () => {
  const begun = activityAfter(NO_ACTIVITY, heartbeat(1000, { tool_calls: [call('c', 'running', 850, null)] }));
  expect(begun.calls).toEqual([{ id: 'i/c', tool: 'Bash', from: 950, to: null, outcome: 'in flight' }]);
  const ended = activityAfter(begun, heartbeat(2000, { tool_calls: [call('c', 'ok', null, 1900)] }));
  expect(ended.calls).toEqual([{ id: 'i/c', tool: 'Bash', from: 950, to: 2000, outcome: 'ok' }]);
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

const row = (kind: HistoryRow['kind'], at: number, more: Partial<HistoryRow> = {}): HistoryRow =>
  ({ kind, at, id: `i/${at}`, instanceId: 'i', tool: 'Bash', outcome: 'ok', endedAt: null, ...more }) as HistoryRow;
const present = { state: 'HEALTHY', instanceId: 'i' } as const;

test('the activity begins with the stored calls and compactions, oldest first', () => {
  const stored = [
    row('compaction', 9),
    row('call', 7, { endedAt: 8 }),
    row('state', 6),
    row('call', 5, { endedAt: 6 }),
  ];
  expect(activityOf(stored, present)).toEqual({
    calls: [
      { id: 'i/5', tool: 'Bash', from: 5, to: 6, outcome: 'ok' },
      { id: 'i/7', tool: 'Bash', from: 7, to: 8, outcome: 'ok' },
    ],
    compactions: [9],
    context: null,
  });
});

test('a stored call is in flight only in the present instance of an agent that has not ended', () => {
  const running = [row('call', 5, { outcome: 'running' })];
  const endOf = (agent: Parameters<typeof activityOf>[1]) => activityOf(running, agent).calls[0]?.to;
  expect(endOf(present)).toBeNull();
  expect(endOf({ ...present, instanceId: 'another' })).toBe(5);
  expect(endOf({ ...present, state: 'TERMINATED' })).toBe(5);
});

test('what the page has seen itself is newer than what is stored, and nothing is there twice', () => {
  const stored = activityOf([row('compaction', 9), row('call', 5, { id: 'i/c', outcome: 'running' })], present);
  const seen = activityAfter(NO_ACTIVITY, heartbeat(20, { tool_calls: [call('c', 'ok', 5, 19)] }));
  const both = activityWith(stored, { ...seen, compactions: [9, 15] });
  expect(both.calls).toEqual([{ id: 'i/c', tool: 'Bash', from: 105, to: 119, outcome: 'ok' }]);
  expect(both.compactions).toEqual([9, 15]);
});
