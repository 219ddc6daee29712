import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { canonical, differenceOf, digests } from './canonical.ts';
import { baseline, fileOf, sources } from './decisions.ts';

test.each(Object.keys(sources))('the decisions are those of the baseline: %s', async (name) => {
  const lines = await sources[name]?.();
  if (lines == null) return;
  const file = fileOf(name, baseline);
  expect(existsSync(file), file).toBe(true);
  const difference = differenceOf(digests(lines), readFileSync(file, 'utf8').trimEnd().split('\n'));
  if (difference !== null) expect.fail(difference);
});

test('an added, a missing and a different decision are each detected', () => {
  const lines = Array.from({ length: 450 }, (_, n) => `decision ${n}`);
  expect(digests(lines)).toHaveLength(4);
  expect(digests(lines.with(300, 'another'))[2]).not.toBe(digests(lines)[2]);
  expect(digests(lines.slice(1))).not.toEqual(digests(lines));
  expect(digests([...lines, 'decision 450'])[0]).toBe('451 lines');
});

test('equal decisions pass; a difference is reported with its place and the remedies', () => {
  const lines = Array.from({ length: 450 }, (_, n) => `decision ${n}`);
  const baseline = digests(lines);
  expect(differenceOf(digests(lines), baseline)).toBeNull();
  expect(differenceOf(digests(lines.with(0, 'another')), baseline)).toContain('from line 1 on');
  expect(differenceOf(digests(lines.with(400, 'another')), baseline)).toContain('from line 401 on');
  const longer = differenceOf(digests([...lines, 'decision 450']), baseline) ?? '';
  expect(longer).toContain('451 lines, 450 lines in the baseline');
  for (const remedy of ['ADDED in test/same-decisions/canonical.ts', 'npm run decisions', 'README.md'])
    expect(longer).toContain(remedy);
  expect(longer.split('\n')).toHaveLength(3);
  expect(differenceOf(digests(lines.slice(0, 400)), baseline)).toContain('from line 401 on');
});

test('ids that are hashes of names are compared by their place, other values as they are', () => {
  const [a, b] = ['0123456789abcdef', 'fedcba9876543210'];
  expect(canonical()({ case: `case-${a}`, of: b, again: a })).toBe(canonical()({ case: `case-${b}`, of: a, again: b }));
  expect(canonical()({ case: a, of: b })).not.toBe(canonical()({ case: a, of: a }));
  expect(canonical()({ at: 1 })).not.toBe(canonical()({ at: 2 }));
});
