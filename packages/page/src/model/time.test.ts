import { expect, test } from 'vitest';
import { ageText, axisTimes, clockTime, countdown, untilText } from './time.ts';

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

test('an axis of less than a minute a step has seconds, and a longer one has none', () => {
  const from = Date.parse('2026-11-27T11:33:00Z');
  expect(axisTimes([from, from + 10_000, from + 20_000], 0)).toEqual(['11:33:00', '11:33:10', '11:33:20']);
  expect(axisTimes([from, from + 60_000], 0)).toEqual(['11:33', '11:34']);
  // Two and a half minutes in four steps.
  expect(axisTimes([0, 37_500, 75_000, 112_500, 150_000], 0)).toEqual([
    ...['00:00:00', '00:00:37', '00:01:15', '00:01:52', '00:02:30'],
  ]);
  expect(axisTimes([from, from + 6 * 3_600_000 + 1000], 0)).toEqual(['11:33', '17:33']);
});

test('an axis has no label twice, and the day where it is longer than one', () => {
  expect(axisTimes([0, 400, 800, 1200], 0)).toEqual(['00:00:00', '', '', '00:00:01']);
  expect(axisTimes([0, 86_400_000, 2 * 86_400_000], 0)).toEqual(['01-01 00:00', '01-02 00:00', '01-03 00:00']);
});
