import { expect, test } from 'vitest';
import { ageText, clockTime, countdown, untilText } from './time.ts';

const NOON = Date.UTC(2026, 10, 22, 12);

test.each([
  [300_001, '5 min 1 s', 'calm'],
  [300_000, '5 min', 'soon'],
  [60_001, '1 min 1 s', 'soon'],
  [60_000, '1 min', 'now'],
  [1, '1 s', 'now'],
  [0, 'over', 'over'],
  [-5, 'over', 'over'],
])('%i ms before a deadline the countdown shows %s, which is %s', (left, text, urgency) => {
  expect(countdown(NOON, NOON + left)).toEqual({ text, urgency });
});

test('a time of another day has its date, and the zone of the reader counts', () => {
  expect(clockTime(NOON, NOON - 1000, 0)).toBe('11:59:59');
  expect(clockTime(NOON, NOON - 12 * 3_600_000 - 1, 0)).toBe('2026-11-21 23:59:59');
  expect(clockTime(NOON, NOON, 90)).toBe('13:30:00');
});

test('an age is never negative', () => {
  expect(ageText(NOON, NOON + 5000)).toBe('0 ms');
  expect(ageText(NOON, NOON - 123_000)).toBe('2 min 3 s');
});

test('what comes is named by the time until then, and what is due is now', () => {
  expect([untilText(NOON, NOON + 44_001), untilText(NOON, NOON), untilText(NOON, null)]).toEqual([
    'in 45 s',
    'now',
    '-',
  ]);
});
