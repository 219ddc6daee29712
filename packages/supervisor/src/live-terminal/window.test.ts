import fc from 'fast-check';
import { expect, test } from 'vitest';
import { changeBetween, changed, fitted, LONGEST_LINE, MOST_CHARACTERS, MOST_LINES } from './window.ts';

test('a line that follows is sent alone', () => {
  expect(changeBetween(['a', 'b'], ['a', 'b', 'c'])).toEqual({ removed: 0, kept: 2, lines: ['c'] });
});

test('lines that leave at the top are counted, and those that stay are not sent again', () => {
  expect(changeBetween(['a', 'b', 'c'], ['b', 'c', 'd'])).toEqual({ removed: 1, kept: 2, lines: ['d'] });
});

test('from a line that was redrawn on, all lines are sent', () => {
  expect(changeBetween(['a', '10 %', 'c'], ['a', '20 %', 'c'])).toEqual({ removed: 0, kept: 1, lines: ['20 %', 'c'] });
});

test('lines that are the same have no change', () => {
  expect(changeBetween(['a', 'b'], ['a', 'b'])).toEqual({ removed: 0, kept: 2, lines: [] });
});

test('any change leads from the earlier lines to the later ones', () => {
  const lines = fc.array(fc.constantFrom('', 'a', 'b', 'c'), { maxLength: 30 });
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      expect(changed(before, changeBetween(before, after))).toEqual(after);
    }),
  );
});

test('of more lines than a terminal may have, the newest are published', () => {
  const lines = Array.from({ length: MOST_LINES + 1 }, (_, i) => `line ${i}`);
  expect(fitted(lines)).toEqual(lines.slice(1));
  expect(fitted(lines.slice(1))).toEqual(lines.slice(1));
});

test('of lines that are too long together, the newest whole lines are published', () => {
  const line = 'x'.repeat(LONGEST_LINE);
  const fit = MOST_CHARACTERS / LONGEST_LINE;
  expect(fitted(Array.from({ length: fit }, () => line))).toHaveLength(fit);
  expect(fitted(Array.from({ length: fit + 1 }, () => line))).toHaveLength(fit);
});

test('a line is cut at the longest that is published', () => {
  expect(fitted(['x'.repeat(LONGEST_LINE + 1), 'y'.repeat(LONGEST_LINE)])).toEqual([
    'x'.repeat(LONGEST_LINE),
    'y'.repeat(LONGEST_LINE),
  ]);
});
