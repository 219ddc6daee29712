import type { HistoryRow } from '@vigil/read-model';
import { expect, test } from 'vitest';
import { activityOf } from './activity.ts';

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
  });
});

test('a stored call is in flight only in the present instance of an agent that has not ended', () => {
  const running = [row('call', 5, { outcome: 'running' })];
  const endOf = (agent: Parameters<typeof activityOf>[1]) => activityOf(running, agent).calls[0]?.to;
  expect(endOf(present)).toBeNull();
  expect(endOf({ ...present, instanceId: 'another' })).toBe(5);
  expect(endOf({ ...present, state: 'TERMINATED' })).toBe(5);
});

test('a refused or failed call has failed', () => {
  const { calls } = activityOf([row('call', 2, { outcome: 'refused' }), row('call', 1, { outcome: 'error' })], present);
  expect(calls.map(({ outcome }) => outcome)).toEqual(['failed', 'failed']);
});
