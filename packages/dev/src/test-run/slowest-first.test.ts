import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../paths.ts';
import { SLOWEST, slowestFirst } from './slowest-first.ts';

test('each of the slowest files exists, and is listed once', () => {
  expect(SLOWEST.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
  expect(new Set(SLOWEST).size).toBe(SLOWEST.length);
});

test('in each group the slowest files come first, and the others keep their order', () => {
  const [slowest = '', second = ''] = SLOWEST;
  const spec = (file: string, groupOrder: number) => ({
    moduleId: `/clone/${file}`,
    project: { config: { sequence: { groupOrder } } },
  });
  const files = [spec('b.test.ts', 0), spec('a.test.ts', 0), spec(second, 0), spec('c.test.ts', 1), spec(slowest, 1)];
  expect(slowestFirst(files).map(({ moduleId }) => moduleId.replace('/clone/', ''))).toEqual([
    second,
    'b.test.ts',
    'a.test.ts',
    slowest,
    'c.test.ts',
  ]);
});
