import type { HistoryRow, SignalFigure } from '@vigil/read-model';
import { expect, test } from 'vitest';
import {
  byNearest,
  captionOf,
  countedSignals,
  drawnSignals,
  firesText,
  lineOf,
  replayedLines,
  shareOf,
  storedSamples,
  withSamples,
} from './figures.ts';

const AT = 10_000_000;
const timeText = (at: number) => `t${at - AT}`;

const figure = (more: Partial<SignalFigure> = {}): SignalFigure => ({
  ...{ signal: 'no_calls', axis: 'absence', confidence: 'high', words: 'no call for 1 min; limit 6 min' },
  ...{ value: 60_000, limit: 360_000, fires: false, firesFrom: AT + 300_000, suspendedBy: [] },
  isDuration: true,
  ...more,
});

test('a figure that grows with the clock is drawn from zero, and its earlier figures as they had grown', () => {
  const stored = [
    { at: AT - 900_000, value: 400_000 },
    { at: AT - 30_000, value: 30_000 },
  ];
  const seen = [
    { at: AT - 70_000, value: 9000 },
    { at: AT, value: 60_000 },
  ];
  expect(lineOf(figure(), stored, seen, AT, [])).toEqual({
    past: [
      { at: AT - 1_300_000, value: 0 },
      { at: AT - 900_000, value: 400_000 },
      { at: AT - 899_999, value: null },
      { at: AT - 60_000, value: 0 },
      { at: AT, value: 60_000 },
    ],
    limit: 360_000,
  });
});

test('a count has what was seen as a line, and what was stored as points, because it is not known between them', () => {
  const count = figure({ value: 2, limit: 8, firesFrom: null, isDuration: false });
  const stored = [{ at: AT - 5000, value: 8 }];
  expect(lineOf(count, stored, [{ at: AT, value: 2 }], AT, []).past).toEqual([
    { at: AT - 5000, value: 8 },
    { at: AT - 4999, value: null },
    { at: AT, value: 2 },
  ]);
});

test('what a replay has read replaces the ramps: stored figures stand before it, and seen ones after it', () => {
  const stored = [AT - 90_000, AT - 40_000].map((at) => ({ at, value: 30_000 }));
  const seen = [AT - 20_000, AT].map((at) => ({ at, value: 9000 }));
  const lines = replayedLines({
    ...{ kind: 'figures', observations: 3, isEarlier: false, at: [AT - 50_000, AT - 30_000, AT - 20_000] },
    signals: [{ signal: 'no_calls', isDuration: true, limit: 360_000, values: [1000, null, 3000] }],
  });
  expect(lineOf(figure(), stored, seen, AT, lines.get('no_calls') ?? []).past).toEqual([
    { at: AT - 120_000, value: 0 },
    { at: AT - 90_000, value: 30_000 },
    { at: AT - 89_999, value: null },
    { at: AT - 50_000, value: 1000 },
    { at: AT - 30_000, value: null },
    { at: AT - 20_000, value: 3000 },
    { at: AT, value: 9000 },
  ]);
  expect(lines.get('no_output')).toBeUndefined();
});

test('each reading of a figure is kept, and one without a figure is not', () => {
  const once = withSamples(new Map(), [figure(), figure({ signal: 'context', value: null })], AT);
  expect([...once.keys()]).toEqual(['no_calls']);
  expect(withSamples(once, [figure({ value: 61_000 })], AT + 1000).get('no_calls')).toHaveLength(2);
});

test('the caption has the figure, the limit, and when it fires or why it does not count', () => {
  const current = { isNow: true, until: AT };
  expect(captionOf(figure(), current, timeText)).toBe('no_calls: no call for 1 min; limit 6 min; fires in 5 min.');
  expect(captionOf(figure({ firesFrom: null, suspendedBy: ['held'] }), current, timeText)).toBe(
    'no_calls: no call for 1 min; limit 6 min; does not count now: held.',
  );
  expect(captionOf(figure({ suspendedBy: ['held'] }), current, timeText)).not.toContain('fires in');
});

test('on a blind page a signal has what was known at that time, and no count continues', () => {
  const fires = (more: Partial<SignalFigure>) => firesText(figure(more), { isNow: false, until: AT }, timeText);
  expect(fires({})).toBe('was not firing at t0, due at t300000');
  expect(fires({ firesFrom: null })).toBe('was not firing at t0');
  expect(fires({ firesFrom: AT - 1 })).toBe('was firing at t0');
  expect(fires({ fires: true, firesFrom: null })).toBe('was firing at t0');
  expect(fires({ suspendedBy: ['held'] })).toBe('did not count at t0: held');
});

test('the share of a limit ends at 100 per cent, and is unknown without a figure or a limit', () => {
  expect(shareOf({ value: 3, limit: 6 })).toBe(50);
  expect(shareOf({ value: 9, limit: 6 })).toBe(100);
  expect([shareOf({ value: null, limit: 6 }), shareOf({ value: 1, limit: 0 })]).toEqual([null, null]);
});

test('what fires comes first, then what is nearest to its limit, and what has no limit last', () => {
  const order = byNearest([
    figure({ signal: 'far', value: 1, limit: 10 }),
    figure({ signal: 'unlimited', limit: null }),
    figure({ signal: 'beyond', value: 20, limit: 10 }),
    figure({ signal: 'near', value: 10, limit: 10 }),
    figure({ signal: 'fires', value: 1, limit: 10, fires: true }),
  ]);
  expect(order.map(({ signal }) => signal)).toEqual(['fires', 'beyond', 'near', 'far', 'unlimited']);
});

test('each signal with a figure is drawn, those nearest to their limit first', () => {
  const signals = [
    figure({ signal: 'context', value: 41, limit: 85 }),
    figure({ signal: 'unknown', value: null }),
    figure({ signal: 'cost', value: 9, limit: 10 }),
  ];
  expect(drawnSignals(signals, { state: 'HEALTHY' }).map(({ signal }) => signal)).toEqual(['cost', 'context']);
  expect(drawnSignals(signals, { state: 'TERMINATED' })).toEqual([]);
});

test('after the end of an agent only the signals that fire are shown', () => {
  const signals = [figure({ signal: 'exited', fires: true }), figure()];
  expect(countedSignals(signals, { state: 'TERMINATED' }).map(({ signal }) => signal)).toEqual(['exited']);
  expect(countedSignals(signals, { state: 'STUCK' })).toHaveLength(2);
});

test('a time that no longer counts has what was seen, and its earlier figures as they had grown', () => {
  const suspended = figure({ firesFrom: null, suspendedBy: ['idle'] });
  expect(lineOf(suspended, [{ at: AT - 9000, value: 1000 }], [{ at: AT, value: 60_000 }], AT, []).past).toEqual([
    { at: AT - 10_000, value: 0 },
    { at: AT - 9000, value: 1000 },
    { at: AT - 8999, value: null },
    { at: AT, value: 60_000 },
  ]);
});

test('the line of a signal begins with its figures at the stored changes of state, oldest first', () => {
  const state = (at: number, signal: string, value: number | null) =>
    ({ kind: 'state', at, evidence: [{ signal, value }] }) as unknown as HistoryRow;
  const stored = [state(9, 'context', 91), state(7, 'no_calls', 5), state(5, 'context', 88), state(3, 'context', null)];
  expect(storedSamples(stored, 'context')).toEqual([
    { at: 5, value: 88 },
    { at: 9, value: 91 },
  ]);
});
