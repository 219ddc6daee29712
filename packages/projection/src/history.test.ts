import { expect, test } from 'vitest';
import { sinceOf } from './history.ts';

test('the first call looks at all minutes, those after it at new ones, and one an hour at all again', () => {
  expect([0, 1, 59, 60, 61, 120].map((calls) => sinceOf(calls, 1000))).toEqual([null, 1000, 1000, null, 1000, null]);
  expect(sinceOf(1, null)).toBeNull();
});
