import { expect, test } from 'vitest';
import { byName } from './names.ts';

test('numbers in names are in the order of their values, and everything else in that of an index', () => {
  const names = ['a-1', 'a-2', 'a-10', 'A-11', 'b', 'worker', 'worker-1-9', 'worker-1-10', 'worker-02-1', 'worker-11'];
  expect(names.toReversed().toSorted(byName)).toEqual(names);
});

test('different names are never equal, so that their order does not depend on the one before', () => {
  // The collation has no difference between these: a number with a zero before it, and characters that are not shown.
  for (const [one, other] of [
    ['worker-01', 'worker-1'],
    ['worker-1', 'worker\u200b-1'],
  ] as const)
    expect([Math.sign(byName(one, other)), Math.sign(byName(other, one))]).toEqual([-1, 1]);
  expect(byName('worker-1', 'worker-1')).toBe(0);
});
