import { expect, test } from 'vitest';
import { countedNames, countOf, NO_COUNTS, withCount } from './counts.ts';

test.each(['constructor', '__proto__', 'toString', 'length', '7'])('%s is a name like any other', (name) => {
  expect(countOf(NO_COUNTS, name)).toBe(0);
  const one = withCount(NO_COUNTS, name, 2);
  expect(countOf(one, name)).toBe(2);
  expect(countOf(JSON.parse(JSON.stringify(one)), name)).toBe(2);
  expect(countOf(withCount(one, name, 0), name)).toBe(0);
});

test('a change of one name changes no other, and leaves the counts before it as they were', () => {
  const names = Array.from({ length: 1000 }, (_, n) => `host-${n}`);
  const counts = names.reduce((before, name, n) => withCount(before, name, n + 1), NO_COUNTS);
  const changed = withCount(counts, 'host-500', 7);
  expect(names.filter((name, n) => countOf(changed, name) !== n + 1)).toEqual(['host-500']);
  expect(countOf(counts, 'host-500')).toBe(501);
  expect(countedNames(withCount(counts, 'host-0', 0)).toSorted()).toEqual(names.slice(1).toSorted());
});
