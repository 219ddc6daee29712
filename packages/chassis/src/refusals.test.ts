import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createRefusalLog } from './refusals.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const opened = () => {
  const lines: object[] = [];
  const log = createRefusalLog({ warn: (fields: object) => void lines.push(fields) } as never);
  const from = (principal: string | null, status: number, address = '192.0.2.1') =>
    log.record({ principal, address, status, method: 'POST', url: '/v1/heartbeats' });
  return { log, lines, from };
};

test('the first refusal of a principal is logged with its name, then one line a minute with their number', () => {
  const { lines, from } = opened();
  for (let i = 0; i < 100; i++) from('agent worker-1', 403);
  expect(lines).toMatchObject([{ principal: 'agent worker-1', status: 403, refusedSinceLastLine: 0 }]);
  vi.advanceTimersByTime(59_999);
  from('agent worker-1', 403);
  expect(lines).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(lines[1]).toMatchObject({ refusedSinceLastLine: 100 });
});

test('the last count of a burst is logged, once', () => {
  const { lines, from } = opened();
  for (let i = 0; i < 3; i++) from('agent worker-1', 403);
  vi.advanceTimersByTime(600_000);
  expect(lines).toMatchObject([{ refusedSinceLastLine: 0 }, { refusedSinceLastLine: 2 }]);
});

test('one refusal is one line, and after a quiet minute the next is logged at once', () => {
  const { lines, from } = opened();
  from('agent worker-1', 403);
  vi.advanceTimersByTime(60_000);
  expect(lines).toHaveLength(1);
  from('agent worker-1', 403);
  expect(lines).toHaveLength(2);
});

test('a count that is not logged yet is logged when the service stops', () => {
  const { log, lines, from } = opened();
  for (let i = 0; i < 3; i++) from('agent worker-1', 403);
  log[Symbol.dispose]();
  expect(lines[1]).toMatchObject({ refusedSinceLastLine: 2 });
  expect(vi.getTimerCount()).toBe(0);
});

test('a refusal without a token is logged with the address of the client, and each address has a line', () => {
  const { lines, from } = opened();
  from(null, 401, '192.0.2.1');
  from(null, 401, '192.0.2.1');
  from(null, 401, '192.0.2.2');
  expect(lines).toMatchObject([
    { principal: null, address: '192.0.2.1' },
    { principal: null, address: '192.0.2.2' },
  ]);
});

test('a principal that changes its address has no further line', () => {
  const { lines, from } = opened();
  from('agent worker-1', 403, '192.0.2.1');
  from('agent worker-1', 403, '192.0.2.2');
  expect(lines).toHaveLength(1);
});

test('another principal, and another status, has a line of its own', () => {
  const { lines, from } = opened();
  from('agent worker-1', 403);
  from('agent worker-2', 403);
  from('agent worker-1', 429);
  from(null, 401);
  expect(lines).toHaveLength(4);
});

test('the query of an address is not logged: it may contain a decision link', () => {
  const { log, lines } = opened();
  log.record({ principal: null, address: null, status: 403, method: 'GET', url: '/v1/decision?link=secret' });
  expect(lines).toMatchObject([{ url: '/v1/decision' }]);
});

test('a bad request is not a refusal', () => {
  const { lines, from } = opened();
  for (const status of [400, 404, 409, 503]) from('agent worker-1', status);
  expect(lines).toEqual([]);
});

test('of many names a bounded number is remembered, and no count is lost', () => {
  const { lines, from } = opened();
  from('agent a0', 403);
  from('agent a0', 403);
  for (let i = 1; i < 3000; i++) from(`agent a${i}`, 403);
  expect(vi.getTimerCount()).toBe(1000);
  expect(lines).toHaveLength(3001);
  expect(lines).toContainEqual(expect.objectContaining({ principal: 'agent a0', refusedSinceLastLine: 1 }));
  from('agent a2999', 403);
  expect(lines).toHaveLength(3001);
  from('agent a0', 403);
  expect(lines).toHaveLength(3002);
});
