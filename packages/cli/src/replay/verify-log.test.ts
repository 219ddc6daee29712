import { expect, test } from 'vitest';
import { sharesOf } from './verify-log.ts';

test('each partition has one process, and the processes have about the same number of records', () => {
  expect(sharesOf([400_000, 240_000, 120_000, 80_000], 2)).toEqual([[0], [1, 2, 3]]);
  expect(sharesOf([200_000, 200_000, 200_000, 200_000], 3)).toEqual([[0, 3], [1], [2]]);
});

test('a process has at least 200,000 records', () => {
  expect(sharesOf([200_000, 199_999], 2)).toEqual([[0, 1]]);
  expect(sharesOf([200_000, 200_000], 2)).toEqual([[0], [1]]);
});

test('no process is without records, and an empty log has one process for all partitions', () => {
  expect(sharesOf([1_600_000, 0, 0, 0], 4)).toEqual([[0, 1, 2, 3]]);
  expect(sharesOf([0, 0], 4)).toEqual([[0, 1]]);
});
