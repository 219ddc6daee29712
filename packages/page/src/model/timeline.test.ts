import type { Explanation, HistoryRow } from '@vigil/read-model';
import { expect, test } from 'vitest';
import { changeLines, changesOf, figuresOf, marksOf, placeIn, segmentsOf, spanOf } from './timeline.ts';

const agent = { agentId: 'a', state: 'STUCK', since: 900, instanceSince: 0, reason: 'no call' } as Explanation['agent'];
const story: Explanation['story'] = [];
const change = (occurredAt: number, stateFrom: string, stateTo: string) =>
  ({ occurredAt, stateFrom, stateTo, reason: `to ${stateTo}` }) as Explanation['transitions'][number];

test('the ribbon has no gap: each state ends where the next begins, and the last one lasts until now', () => {
  const transitions = [change(900, 'DEGRADED', 'STUCK'), change(500, 'HEALTHY', 'DEGRADED')];
  expect(segmentsOf({ agent, transitions, story }, { from: 0, to: 1000 }, 1000)).toEqual([
    { state: 'HEALTHY', from: 0, to: 500, reason: '' },
    { state: 'DEGRADED', from: 500, to: 900, reason: 'to DEGRADED' },
    { state: 'STUCK', from: 900, to: 1000, reason: 'to STUCK' },
  ]);
});

test('the ribbon shows each known change, and ends when the states become unknown', () => {
  const transitions = [change(500, 'HEALTHY', 'STUCK')];
  const ends = (until: number, changes = transitions) =>
    segmentsOf({ agent, transitions: changes, story }, { from: 0, to: 1000 }, until).map(({ from, to }) => [from, to]);
  expect(ends(700)).toEqual([
    ...[
      [0, 500],
      [500, 700],
    ],
  ]);
  expect(ends(700, [])).toEqual([[0, 700]]);
  // A change that came after the begin of the outage is known, too.
  expect(ends(400)).toEqual([
    ...[
      [0, 500],
      [500, 500],
    ],
  ]);
});

test('an agent without changes has one state, and what is older than the span is left out', () => {
  expect(segmentsOf({ agent, transitions: [], story }, { from: 0, to: 10 }, 10)).toEqual([
    { state: 'STUCK', from: 0, to: 10, reason: 'no call' },
  ]);
  const old = [change(5, 'HEALTHY', 'STUCK')];
  expect(segmentsOf({ agent, transitions: old, story }, { from: 5, to: 10 }, 10)).toHaveLength(1);
});

test('no state is drawn before the agent began', () => {
  const began = { ...agent, since: 40, instanceSince: 30 };
  expect(segmentsOf({ agent: began, transitions: [], story }, { from: 0, to: 100 }, 100)).toEqual([
    { state: 'STUCK', from: 30, to: 100, reason: 'no call' },
  ]);
  const changed = [change(60, 'HEALTHY', 'STUCK')];
  expect(segmentsOf({ agent: began, transitions: changed, story }, { from: 0, to: 100 }, 100)[0]).toEqual({
    ...{ state: 'HEALTHY', from: 30, to: 60, reason: '' },
  });
});

test('the span has at least a minute, and everything that is known', () => {
  const now = 10_000_000;
  const young = { ...agent, since: now, instanceSince: now };
  expect(spanOf({ agent: young, transitions: [], story }, now).from).toBeLessThan(now - 59_999);
  expect(spanOf({ agent: { ...young, instanceSince: 2000 }, transitions: [], story }, now).from).toBeLessThan(2000);
  const early = spanOf({ agent: young, transitions: [change(1000, 'HEALTHY', 'STUCK')], story }, now);
  expect(early.from).toBeLessThan(1000);
});

test("the lanes have the agent's own checkpoints and what was done about it, and nothing older than the span", () => {
  const entry = (type: string, at = 5): Explanation['story'][number] => ({
    ...{ eventId: type, at, type, agentId: 'a', taskId: null, caseId: null, payload: {} },
  });
  const checkpoint = (checkpointId: string, agentId: string, writtenAt: number, valid = true) =>
    ({ checkpointId, agentId, writtenAt, valid }) as Explanation['checkpoints'][number];
  const checkpoints = [
    checkpoint('c3', 'a', 8, false),
    checkpoint('c2', 'a', 6),
    checkpoint('of another', 'b', 5),
    checkpoint('c1', 'a', 1),
  ];
  const happened = [entry('NUDGE_SENT'), entry('POLICY_PUBLISHED'), entry('CASE_OPENED', 1)];
  const marks = marksOf({ agent, checkpoints, story: happened }, { from: 2, to: 9 });
  expect(marks.map(({ lane, key }) => [lane, key])).toEqual([
    ['checkpoints', 'c2'],
    ['checkpoints', 'c3'],
    ['steps', 'NUDGE_SENT'],
  ]);
  expect(marks[1]?.words).toBe('checkpoint c3, not valid');
});

test('a moment outside the span is at its edge', () => {
  expect([placeIn({ from: 0, to: 10 }, -1), placeIn({ from: 0, to: 10 }, 5), placeIn({ from: 0, to: 10 }, 11)]).toEqual(
    [0, 50, 100],
  );
  expect(placeIn({ from: 5, to: 5 }, 5)).toBe(0);
});

test('a change of state shows each signal that fired with its figure and limit, and gives the ribbon its state', () => {
  const words = 'no call for 7 min; limit 6 min';
  const changed = { kind: 'state', id: 's', at: 8, state: 'STUCK', stateFrom: 'HEALTHY', reason: words } as HistoryRow;
  const stuck = { ...changed, evidence: [{ signal: 'no_calls', words }] } as unknown as HistoryRow;
  const calm = { ...changed, id: 'c', at: 9, state: 'HEALTHY', stateFrom: 'STUCK', evidence: [] } as HistoryRow;
  const history = [calm, { ...calm, kind: 'call', id: 'call', state: null } as HistoryRow, stuck];
  expect(figuresOf(history, { from: 0, to: 10 })).toEqual([{ id: 's', at: 8, words: [`no_calls: ${words}`] }]);
  expect(figuresOf(history, { from: 9, to: 10 })).toEqual([]);
  expect(changesOf(history).map(({ occurredAt, stateTo }) => [occurredAt, stateTo])).toEqual([
    [9, 'HEALTHY'],
    [8, 'STUCK'],
  ]);
});

test('a change of state has the figure and the limit of each signal that fired in words, or its reason', () => {
  const state = (at: number, more: Partial<HistoryRow>) =>
    ({
      kind: 'state',
      id: `e${at}`,
      at,
      state: 'STUCK',
      stateFrom: 'HEALTHY',
      reason: 'r',
      evidence: [],
      ...more,
    }) as HistoryRow;
  const evidence = [
    { signal: 'no_calls', words: 'no call for 9 min; limit 6 min' },
    { signal: 'context', words: 'context 91 %; limit 85 %' },
  ] as unknown as HistoryRow['evidence'];
  const call = { kind: 'call', id: 'c', at: 3 } as HistoryRow;
  const lines = changeLines([state(4, { evidence }), call, state(2, {})]);
  expect(lines.map(({ id, occurredAt, words }) => ({ id, occurredAt, words }))).toEqual([
    {
      ...{ id: 'e4', occurredAt: 4 },
      words: ['no_calls: no call for 9 min; limit 6 min', 'context: context 91 %; limit 85 %'],
    },
    { id: 'e2', occurredAt: 2, words: ['r'] },
  ]);
});
