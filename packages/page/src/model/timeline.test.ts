import type { Entry, Explanation } from '@vigil/read-model';
import { expect, test } from 'vitest';
import { marksOf, placeIn, segmentsOf, spanOf } from './timeline.ts';

const agent = { state: 'STUCK', since: 900, reason: 'no call' } as Explanation['agent'];
const change = (occurredAt: number, stateFrom: string, stateTo: string) =>
  ({ occurredAt, stateFrom, stateTo, reason: `to ${stateTo}` }) as Explanation['transitions'][number];

test('the ribbon has no gap: each state ends where the next begins, and the last one lasts until now', () => {
  const transitions = [change(900, 'DEGRADED', 'STUCK'), change(500, 'HEALTHY', 'DEGRADED')];
  expect(segmentsOf({ agent, transitions }, { from: 0, to: 1000 })).toEqual([
    { state: 'HEALTHY', from: 0, to: 500, reason: '' },
    { state: 'DEGRADED', from: 500, to: 900, reason: 'to DEGRADED' },
    { state: 'STUCK', from: 900, to: 1000, reason: 'to STUCK' },
  ]);
});

test('an agent without changes has one state, and what is older than the span is left out', () => {
  expect(segmentsOf({ agent, transitions: [] }, { from: 0, to: 10 })).toEqual([
    { state: 'STUCK', from: 0, to: 10, reason: 'no call' },
  ]);
  const old = [change(5, 'HEALTHY', 'STUCK')];
  expect(segmentsOf({ agent, transitions: old }, { from: 5, to: 10 })).toHaveLength(1);
});

test('the span has at least ten minutes, and everything that is known', () => {
  const now = 10_000_000;
  expect(spanOf({ agent: { ...agent, since: now }, transitions: [], story: [] }, now).from).toBeLessThan(now - 599_999);
  const early = spanOf(
    { agent: { ...agent, since: now }, transitions: [change(1000, 'HEALTHY', 'STUCK')], story: [] },
    now,
  );
  expect(early.from).toBeLessThan(1000);
});

test('events have the lane of their kind, and others have none', () => {
  const entry = (type: string, at = 5): Entry => ({
    eventId: type,
    at,
    type,
    agentId: 'a',
    taskId: null,
    caseId: null,
    payload: {},
  });
  const story = [entry('NUDGE_SENT'), entry('CHECKPOINT_RECORDED'), entry('POLICY_PUBLISHED'), entry('CASE_OPENED', 1)];
  expect(marksOf(story, { from: 2, to: 9 }).map(({ lane }) => lane)).toEqual(['steps', 'checkpoints']);
});

test('a moment outside the span is at its edge', () => {
  expect([placeIn({ from: 0, to: 10 }, -1), placeIn({ from: 0, to: 10 }, 5), placeIn({ from: 0, to: 10 }, 11)]).toEqual(
    [0, 50, 100],
  );
  expect(placeIn({ from: 5, to: 5 }, 5)).toBe(0);
});
