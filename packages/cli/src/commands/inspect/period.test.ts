import { expect, test } from 'vitest';
import { overlaps } from '../../render/period.ts';
import { instantOf } from './period.ts';

const NOON = Date.UTC(2026, 10, 22, 12);

test('a time is a duration before now, or a date', () => {
  expect(instantOf('2h', NOON)).toBe(NOON - 7_200_000);
  expect(instantOf('2h ago', NOON)).toBe(NOON - 7_200_000);
  expect(instantOf('2026-11-22T11:00Z', NOON)).toBe(NOON - 3_600_000);
  expect(instantOf('2026-11-22', NOON)).toBe(Date.UTC(2026, 10, 22));
});

test.each(['', 'yesterday', '12', '11:00', 'ago', '2026-13-01'])('"%s" is not a time', (text) => {
  expect(instantOf(text, NOON)).toBeNull();
});

test('something is in a period if it was there at any moment of it', () => {
  const period = { from: 10, to: 20 };
  expect(overlaps(period, 20, null)).toBe(true);
  expect(overlaps(period, 21, null)).toBe(false);
  expect(overlaps(period, 1, 10)).toBe(true);
  expect(overlaps(period, 1, 9)).toBe(false);
  expect(overlaps(period, null, null)).toBe(true);
});
