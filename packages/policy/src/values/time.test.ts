import { expect, test } from 'vitest';
import { utcTime } from './time.ts';

test('a time for people has seconds and the name of its zone, and neither milliseconds nor letters between', () => {
  expect(utcTime(Date.UTC(2026, 10, 28, 18, 59, 58, 999))).toBe('2026-11-28 18:59:58 UTC');
});
