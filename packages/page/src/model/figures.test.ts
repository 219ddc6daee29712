import type { HistoryRow, SignalFigure } from '@vigil/read-model';
import { expect, test } from 'vitest';
import { bySoonest, captionOf, countedSignals, lineOf, shareOf, storedSamples, withSamples } from './figures.ts';

const AT = 10_000_000;

const figure = (more: Partial<SignalFigure> = {}): SignalFigure => ({
  ...{ signal: 'no_calls', axis: 'absence', confidence: 'high', words: 'no call for 1 min; limit 6 min' },
  ...{ value: 60_000, limit: 360_000, fires: false, firesFrom: AT + 300_000, suspendedBy: [] },
  isDuration: true,
  ...more,
});

test('a figure that grows with the clock is drawn from zero, and onwards to its limit', () => {
  expect(lineOf(figure(), [{ at: AT, value: 60_000 }], AT)).toEqual({
    past: [
      { at: AT - 60_000, value: 0 },
      { at: AT, value: 60_000 },
    ],
    expected: [
      { at: AT, value: 60_000 },
      { at: AT + 300_000, value: 360_000 },
    ],
    limit: 360_000,
    isDuration: true,
  });
});

test('one that fires is not expected to go further, and a count has only what was seen', () => {
  const fires = figure({ value: 400_000, fires: true, firesFrom: AT - 40_000 });
  expect(lineOf(fires, [], AT).expected).toEqual([]);
  const count = figure({ value: 2, limit: 8, firesFrom: null, isDuration: false });
  expect(lineOf(count, [{ at: AT, value: 2 }], AT)).toMatchObject({ past: [{ value: 2 }], isDuration: false });
});

test('each reading of a figure is kept, and one without a figure is not', () => {
  const once = withSamples(new Map(), [figure(), figure({ signal: 'context', value: null })], AT);
  expect([...once.keys()]).toEqual(['no_calls']);
  expect(withSamples(once, [figure({ value: 61_000 })], AT + 1000).get('no_calls')).toHaveLength(2);
});

test('the caption has the figure, the limit, and when it fires or why it does not count', () => {
  expect(captionOf(figure(), AT)).toBe('no_calls: no call for 1 min; limit 6 min; fires in 5 min.');
  expect(captionOf(figure({ firesFrom: null, suspendedBy: ['held'] }), AT)).toBe(
    'no_calls: no call for 1 min; limit 6 min; does not count now: held.',
  );
  expect(captionOf(figure({ suspendedBy: ['held'] }), AT)).not.toContain('fires in');
});

test('the share of a limit ends at 100 per cent, and is unknown without a figure or a limit', () => {
  expect(shareOf({ value: 3, limit: 6 })).toBe(50);
  expect(shareOf({ value: 9, limit: 6 })).toBe(100);
  expect([shareOf({ value: null, limit: 6 }), shareOf({ value: 1, limit: 0 })]).toEqual([null, null]);
});

test('what fires comes first, then what fires soonest, then what is nearest to its limit', () => {
  const never = { firesFrom: null };
  const order = bySoonest([
    figure({ ...never, signal: 'far', value: 1, limit: 10 }),
    figure({ ...never, signal: 'near', value: 9, limit: 10 }),
    figure({ signal: 'soon' }),
    figure({ signal: 'fires', fires: true }),
  ]);
  expect(order.map(({ signal }) => signal)).toEqual(['fires', 'soon', 'near', 'far']);
});

test('after the end of an agent only the signals that fire are shown', () => {
  const signals = [figure({ signal: 'exited', fires: true }), figure()];
  expect(countedSignals(signals, { state: 'TERMINATED' }).map(({ signal }) => signal)).toEqual(['exited']);
  expect(countedSignals(signals, { state: 'STUCK' })).toHaveLength(2);
});

test('a time that no longer counts is still drawn as a time', () => {
  const suspended = figure({ firesFrom: null, suspendedBy: ['idle'] });
  expect(lineOf(suspended, [{ at: AT, value: 60_000 }], AT)).toMatchObject({ expected: [], isDuration: true });
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
