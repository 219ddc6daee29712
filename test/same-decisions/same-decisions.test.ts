import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { canonical, digests } from './canonical.ts';
import { baseline, fileOf, sources } from './decisions.ts';

test.each(Object.keys(sources))('the decisions are those of the baseline: %s', async (name) => {
  const lines = await sources[name]?.();
  if (lines == null) return;
  const file = fileOf(name, baseline);
  expect(existsSync(file), file).toBe(true);
  expect(digests(lines)).toEqual(readFileSync(file, 'utf8').trimEnd().split('\n'));
});

test('an added, a missing and a different decision are each detected', () => {
  const lines = Array.from({ length: 450 }, (_, n) => `decision ${n}`);
  expect(digests(lines)).toHaveLength(4);
  expect(digests(lines.with(300, 'another'))[2]).not.toBe(digests(lines)[2]);
  expect(digests(lines.slice(1))).not.toEqual(digests(lines));
  expect(digests([...lines, 'decision 450'])[0]).toBe('451 lines');
});

test('ids that are hashes of names are compared by their place, other values as they are', () => {
  const [a, b] = ['0123456789abcdef', 'fedcba9876543210'];
  expect(canonical()({ case: `case-${a}`, of: b, again: a })).toBe(canonical()({ case: `case-${b}`, of: a, again: b }));
  expect(canonical()({ case: a, of: b })).not.toBe(canonical()({ case: a, of: a }));
  expect(canonical()({ at: 1 })).not.toBe(canonical()({ at: 2 }));
});
