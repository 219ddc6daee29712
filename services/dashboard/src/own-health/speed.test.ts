import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { speedIn, speedsFrom } from './speed.ts';

const METRIC = 'vigil_transaction_duration_seconds';

/** Counts of the buckets up to 25, 50 and 100 ms, and of all. */
const text = (processor: string, [to25, to50, to100, all]: readonly number[], metric = METRIC): string => {
  const line = (le: string, count = 0) =>
    `${metric}_bucket{processor="${processor}",otel_scope_name="vigil",le="${le}"} ${count}`;
  return [
    `# TYPE ${metric} histogram`,
    `${metric}_count{processor="${processor}"} ${all}`,
    ...[line('0.025', to25), line('0.05', to50), line('0.1', to100), line('+Inf', all)],
  ].join('\n');
};

test('95 % take at most the bound of the first bucket that has as many', () => {
  expect(speedIn(text('a', [10, 95, 99, 100]), METRIC, 'a')).toEqual({ count: 100, p95AtMostMs: 50 });
  expect(speedIn(text('a', [10, 94, 99, 100]), METRIC, 'a')).toEqual({ count: 100, p95AtMostMs: 100 });
});

test('a time beyond the largest bound has no figure, and neither has a time that was not measured', () => {
  expect(speedIn(text('a', [10, 20, 30, 100]), METRIC, 'a')).toEqual({ count: 100, p95AtMostMs: null });
  expect(speedIn(text('a', [0, 0, 0, 0]), METRIC, 'a')).toEqual({ count: 0, p95AtMostMs: null });
  expect(speedIn('', METRIC, 'a')).toEqual({ count: 0, p95AtMostMs: null });
});

test('another processor of the same service does not count', () => {
  const both = `${text('other', [0, 0, 0, 50])}\n${text('a', [4, 4, 4, 4])}\n`;
  expect(speedIn(both, METRIC, 'a')).toEqual({ count: 4, p95AtMostMs: 25 });
});

test('each figure is of its own service, and one that does not answer has none', async () => {
  const lateness = 'vigil_deadline_lateness_seconds';
  const server = createServer((_, response) =>
    response.end(`${text('health-evaluator', [1, 2, 2, 2])}\n${text('health-evaluator', [3, 3, 3, 3], lateness)}`),
  );
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const speeds = speedsFrom([
    ['health-evaluator', url],
    ['heartbeat-ingest', 'http://127.0.0.1:1'],
  ]);
  expect(await speeds()).toEqual({
    check: { count: 2, p95AtMostMs: 50 },
    transition: { count: 3, p95AtMostMs: 25 },
    heartbeat: { count: 0, p95AtMostMs: null },
  });
  server.close();
});
