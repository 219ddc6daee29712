import { type EventOf, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { expect, test } from 'vitest';
import { createTerminalLeases, LONGEST_LEASE_MS } from './leases.ts';

const event = (ttlMs: number, leaseId = 'lease-1', agentId = 'worker-1') =>
  example(Topic.leaseTerminal, 'LEASE_TERMINAL', { agentId, leaseId, ttlMs }) as EventOf<typeof Topic.leaseTerminal>;
const all = () => true;

test('a lease holds until its time is over, from the stamp of its record on', () => {
  const leases = createTerminalLeases();
  leases.observe(event(30_000), 1000, 0);
  expect([leases.isLeased('worker-1', 30_999), leases.isLeased('worker-1', 31_000)]).toEqual([true, false]);
  expect(leases.isLeased('worker-2', 1000)).toBe(false);
});

test('no lease holds longer than the longest one', () => {
  const leases = createTerminalLeases();
  leases.observe(event(86_400_000), 0, 0);
  expect([leases.isLeased('worker-1', LONGEST_LEASE_MS - 1), leases.isLeased('worker-1', LONGEST_LEASE_MS)]).toEqual([
    true,
    false,
  ]);
});

test('a runtime receives each renewal once, with the rest of its time, and the leases of its agents only', () => {
  const leases = createTerminalLeases();
  leases.observe(event(30_000), 0, 0);
  expect(leases.offersFor((agentId) => agentId === 'worker-2', 1000)).toEqual([]);
  expect(leases.offersFor(all, 1000)).toEqual([{ agentId: 'worker-1', leaseId: 'lease-1', expiresInMs: 29_000 }]);
  expect(leases.offersFor(all, 2000)).toEqual([]);
  leases.observe(event(30_000), 10_000, 1);
  expect(leases.offersFor(all, 10_000)).toEqual([{ agentId: 'worker-1', leaseId: 'lease-1', expiresInMs: 30_000 }]);
});

test('a runtime receives the end of a lease that it has received, and none of another lease', () => {
  const leases = createTerminalLeases();
  leases.observe(event(30_000), 0, 0);
  leases.offersFor(all, 0);
  leases.observe(event(0), 1000, 1);
  leases.observe(event(30_000, 'lease-2', 'worker-2'), 1000, 2);
  leases.observe(event(0, 'lease-2', 'worker-2'), 1000, 3);
  expect(leases.offersFor(all, 1000)).toEqual([{ agentId: 'worker-1', leaseId: 'lease-1', expiresInMs: 0 }]);
});

test('an older record that is read again changes nothing', () => {
  const leases = createTerminalLeases();
  leases.observe(event(0), 1000, 1);
  leases.observe(event(30_000), 0, 0);
  expect(leases.isLeased('worker-1', 1000)).toBe(false);
});

test('the id of a lease cannot be moved to another agent', () => {
  const leases = createTerminalLeases();
  leases.observe(event(30_000), 0, 0);
  leases.observe(event(30_000, 'lease-1', 'worker-2'), 0, 1);
  expect([leases.isLeased('worker-1', 0), leases.isLeased('worker-2', 0)]).toEqual([true, false]);
});
