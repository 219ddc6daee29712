import { expect, test } from 'vitest';
import { createRefusalLog } from './refusals.ts';

const opened = () => {
  const lines: object[] = [];
  const clock = { now: 0 };
  const refused = createRefusalLog({ warn: (fields: object) => void lines.push(fields) } as never, () => clock.now);
  const from = (principal: string | null, status: number) =>
    refused({ principal, status, method: 'POST', url: '/v1/heartbeats' });
  return { lines, clock, from };
};

test('the first refusal of a principal is logged with its name, then one line a minute with their number', () => {
  const { lines, clock, from } = opened();
  for (let i = 0; i < 100; i++) from('agent worker-1', 403);
  expect(lines).toMatchObject([{ principal: 'agent worker-1', status: 403, refusedSinceLastLine: 0 }]);
  clock.now = 59_999;
  from('agent worker-1', 403);
  expect(lines).toHaveLength(1);
  clock.now = 60_000;
  from('agent worker-1', 403);
  expect(lines[1]).toMatchObject({ refusedSinceLastLine: 100 });
});

test('another principal, and another status, has a line of its own', () => {
  const { lines, from } = opened();
  from('agent worker-1', 403);
  from('agent worker-2', 403);
  from('agent worker-1', 429);
  from(null, 401);
  expect(lines).toHaveLength(4);
});

test('a bad request is not a refusal', () => {
  const { lines, from } = opened();
  for (const status of [400, 404, 409, 503]) from('agent worker-1', status);
  expect(lines).toEqual([]);
});

test('of many names a bounded number is remembered', () => {
  const { lines, from } = opened();
  for (let i = 0; i < 3000; i++) from(`agent a${i}`, 403);
  from('agent a2999', 403);
  expect(lines).toHaveLength(3000);
  from('agent a0', 403);
  expect(lines).toHaveLength(3001);
});
