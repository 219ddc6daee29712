import type { HistoryRow } from '@vigil/read-model';
import { expect, test } from 'vitest';
import { activityOf, activityText, deedsOf, MOST_CALLS } from './activity.ts';

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
  expect(activityOf(stored, true, present)).toEqual({
    calls: [
      { id: 'i/5', tool: 'Bash', from: 5, to: 6, outcome: 'ok' },
      { id: 'i/7', tool: 'Bash', from: 7, to: 8, outcome: 'ok' },
    ],
    hasOlder: false,
    compactions: [9],
  });
});

test('a stored call is in flight only in the present instance of an agent that has not ended', () => {
  const running = [row('call', 5, { outcome: 'running' })];
  const endOf = (agent: Parameters<typeof activityOf>[2]) => activityOf(running, true, agent).calls[0]?.to;
  expect(endOf(present)).toBeNull();
  expect(endOf({ ...present, instanceId: 'another' })).toBe(5);
  expect(endOf({ ...present, state: 'TERMINATED' })).toBe(5);
});

test('a refused or failed call has failed', () => {
  const stored = [row('call', 2, { outcome: 'refused' }), row('call', 1, { outcome: 'error' })];
  const { calls } = activityOf(stored, true, present);
  expect(calls.map(({ outcome }) => outcome)).toEqual(['failed', 'failed']);
});

test('the text counts all calls, and names the newest as such where older ones are not drawn', () => {
  const calls = (count: number) =>
    Array.from({ length: count }, (_, i) =>
      row('call', count - i, { endedAt: count - i, outcome: i === 0 ? 'error' : 'ok' }),
    );
  const text = (count: number, isWhole: boolean, from = 0) =>
    activityText(activityOf([...calls(count)], isWhole, present), from);
  expect(text(MOST_CALLS, true)).toBe('500 calls, 1 of them failed, and 0 compactions.');
  expect(text(MOST_CALLS + 1, true)).toBe(
    'The newest 500 calls, 1 of them failed; older ones are not drawn. 0 compactions.',
  );
  // The dashboard has given one page of a longer history.
  expect(text(2, false)).toBe('The newest 2 calls, 1 of them failed; older ones are not drawn. 0 compactions.');
  // All calls of the drawn time are there.
  expect(text(MOST_CALLS + 1, true, 4)).toBe('498 calls, 1 of them failed, and 0 compactions.');
});

test('the table has the calls and compactions in words, newest first', () => {
  const stored = [
    row('call', 7, { outcome: 'running' }),
    row('compaction', 6, { usedBefore: 176_000, usedAfter: 82_000, contextMax: 200_000 }),
    row('call', 2, { endedAt: 5, outcome: 'error' }),
  ];
  expect(deedsOf(activityOf(stored, true, present), stored)).toEqual([
    { id: 'i/7', at: 7, what: 'call of Bash', outcome: 'in flight', tookMs: null },
    {
      ...{ id: 'i/6', at: 6, what: 'compaction: context from 176,000 to 82,000 of 200,000 tokens' },
      ...{ outcome: null, tookMs: null },
    },
    { id: 'i/2', at: 2, what: 'call of Bash', outcome: 'failed', tookMs: 3 },
  ]);
});
