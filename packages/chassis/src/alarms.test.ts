import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { COUNTERS, GAUGES } from './metrics.ts';

const rules = readFileSync(path.resolve(import.meta.dirname, '../../../deploy/prometheus/rules.yaml'), 'utf8');
const expressions = [...rules.matchAll(/^ +expr: (.+)$/gm)].map(([, expression]) => expression ?? '');
const shown = new Set([
  ...Object.keys(COUNTERS).map((name) => `vigil_${name}_total`),
  ...Object.keys(GAUGES).map((name) => `vigil_${name}`),
]);

test('every alarm uses metrics that are shown: one of another name would never fire', () => {
  const named = expressions.flatMap((expression) => expression.match(/vigil_\w+/g) ?? []);
  expect(named.length).toBeGreaterThanOrEqual(expressions.length);
  expect(named.filter((name) => !shown.has(name))).toEqual([]);
});

test('time that stands still, time that is ahead, slow watched time and lag are alarms', () => {
  for (const gauge of Object.keys(GAUGES)) expect(expressions.join('\n')).toContain(`vigil_${gauge}`);
  expect(expressions).toContain('vigil_partition_time > 0 and time() - vigil_partition_time > 60');
  expect(expressions).toContain('vigil_partition_time - time() > 30');
});
