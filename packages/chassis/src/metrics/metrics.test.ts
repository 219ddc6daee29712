import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { METRICS } from './definitions.ts';

const root = path.resolve(import.meta.dirname, '../../../..');
const counters = Object.entries(METRICS).flatMap(([name, { kind }]) => (kind === 'gauge' ? [] : [name]));

/** The metrics that production code adds to, by the calls of `count` in it. */
const counted = (folders: string): ReadonlySet<string> => {
  const isProduction = (file: string) => !/node_modules|\.(test|fixture|contract)\.ts$|testing\.ts$/.test(file);
  const files = globSync(`${folders}/src/**/*.ts`, { cwd: root }).filter(isProduction);
  const calls = files.flatMap((file) => [
    ...readFileSync(path.join(root, file), 'utf8').matchAll(/\bcount\(\s*'(\w+)'/g),
  ]);
  return new Set(calls.map(([, name]) => name ?? ''));
};

test('every counter and histogram is recorded: by a runner, or by a service', () => {
  const names = new Set([...counted('packages/stream'), ...counted('services/*')]);
  expect([...names].toSorted()).toEqual(counters.toSorted());
});

test('no metric is made outside the list: only instruments.ts creates instruments', () => {
  const isSource = (file: string) => !/node_modules|\.test\.ts$/.test(file);
  const makers = globSync('{packages,services}/*/src/**/*.ts', { cwd: root })
    .filter(isSource)
    .filter((file) =>
      /\bcreate(Observable)?(Counter|UpDownCounter|Gauge|Histogram)\(/.test(
        readFileSync(path.join(root, file), 'utf8'),
      ),
    );
  expect(makers).toEqual(['packages/chassis/src/metrics/instruments.ts']);
});

test('every metric and label has a name that Prometheus accepts, and a help without a full stop', () => {
  for (const [name, { labels, help, unit }] of Object.entries(METRICS)) {
    for (const one of [name, ...Object.keys(labels)]) expect(one).toMatch(/^[a-z][a-z0-9_]*$/);
    expect(help).toMatch(/[^.]$/);
    expect(unit).not.toBe('');
  }
});
