import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shareOut } from './partitioner.ts';

test('a new member takes from each other only its own share', () => {
  const two = shareOut(
    [
      { id: 'a', held: [0, 1, 2, 3] },
      { id: 'b', held: [4, 5, 6, 7] },
    ],
    8,
  );
  expect([...two.values()]).toEqual([
    [0, 1, 2, 3],
    [4, 5, 6, 7],
  ]);
  const three = shareOut(
    [
      { id: 'a', held: [0, 1, 2, 3] },
      { id: 'b', held: [4, 5, 6, 7] },
      { id: 'c', held: [] },
    ],
    8,
  );
  expect([...three.values()]).toEqual([
    [0, 1, 2],
    [4, 5, 6],
    [3, 7],
  ]);
});

test('every partition has exactly one owner and shares differ by one at most, independent of the partitions that members claim', () => {
  const memberLists = fc.uniqueArray(fc.record({ id: fc.string({ minLength: 1 }), held: fc.array(fc.nat(20)) }), {
    selector: ({ id }) => id,
    minLength: 1,
    maxLength: 6,
  });
  fc.assert(
    fc.property(memberLists, fc.integer({ min: 1, max: 16 }), (members, partitions) => {
      const shares = [...shareOut(members, partitions).values()];
      expect(shares.flat().toSorted((a, b) => a - b)).toEqual(Array.from({ length: partitions }, (_, p) => p));
      const sizes = shares.map(({ length }) => length);
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    }),
  );
});
