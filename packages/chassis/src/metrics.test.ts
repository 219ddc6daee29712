import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { COUNTERS } from './metrics.ts';

const root = path.resolve(import.meta.dirname, '../../..');

/** The counters that production code adds to, by the calls of `count` in it. */
const counted = (folders: string): ReadonlySet<string> => {
  const isProduction = (file: string) => !/node_modules|\.(test|fixture|contract)\.ts$|testing\.ts$/.test(file);
  const files = globSync(`${folders}/src/**/*.ts`, { cwd: root }).filter(isProduction);
  const calls = files.flatMap((file) => [
    ...readFileSync(path.join(root, file), 'utf8').matchAll(/\bcount\(\s*'(\w+)'/g),
  ]);
  return new Set(calls.map(([, name]) => name ?? ''));
};

test('every counter is emitted: by a runner, or by a service', () => {
  const names = new Set([...counted('packages/stream'), ...counted('services/*')]);
  expect([...names].toSorted()).toEqual(Object.keys(COUNTERS).toSorted());
});
