import { expect, test } from 'vitest';
import { Leases } from './leases.ts';

const lease = (expiresInMs: number, leaseId = 'lease-1', agentId = 'worker-1') => ({ agentId, leaseId, expiresInMs });

test('a lease ends by itself when its time is over, and not before', () => {
  const leases = new Leases();
  leases.observe(lease(30_000), 0);
  expect(leases.agents(29_999)).toEqual(['worker-1']);
  expect(leases.agents(30_000)).toEqual([]);
});

test('a renewed lease lasts from its renewal on, and is not new', () => {
  const leases = new Leases();
  expect(leases.observe(lease(30_000), 0)).toBe(true);
  expect(leases.observe(lease(30_000), 10_000)).toBe(false);
  expect(leases.agents(39_999)).toEqual(['worker-1']);
  expect(leases.agents(40_000)).toEqual([]);
});

test('a lease that was over is new again', () => {
  const leases = new Leases();
  leases.observe(lease(30_000), 0);
  expect(leases.observe(lease(30_000), 30_000)).toBe(true);
});

test('a second lease of the same agent is new, and the agent is published until the last one ends', () => {
  const leases = new Leases();
  leases.observe(lease(30_000, 'a'), 0);
  expect(leases.observe(lease(30_000, 'b'), 10_000)).toBe(true);
  leases.observe(lease(0, 'a'), 11_000);
  expect(leases.agents(39_999)).toEqual(['worker-1']);
  leases.observe(lease(0, 'b'), 39_999);
  expect(leases.agents(39_999)).toEqual([]);
});

test('the end of an unknown lease begins none', () => {
  const leases = new Leases();
  expect(leases.observe(lease(0), 0)).toBe(false);
  expect(leases.agents(0)).toEqual([]);
});
