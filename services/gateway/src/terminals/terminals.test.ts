import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { beforeEach, expect, test } from 'vitest';
import { answerOf, showingClaims, testGateway } from '../testing.ts';

const { log, get, post, later, reopen } = testGateway();

const runtime = await showingClaims('runtime', 'host-1');
const change = (more: object = {}) => ({
  type: 'TERMINAL_CHANGED',
  payload: {
    ...{ agentId: 'worker-1', instanceId: 'i-1', runtimeId: 'host-1', sequence: 0, removed: 0, kept: 0 },
    ...{ lines: ['one'], unseen: 0, outputAt: null },
    ...more,
  },
});
const lease = (ttlMs = 30_000) =>
  log().publish(example(Topic.leaseTerminal, 'LEASE_TERMINAL', { agentId: 'worker-1', leaseId: 'lease-1', ttlMs }));
const publish = async (report: object, headers: Record<string, string> = runtime) =>
  answerOf(await post('/v1/terminals', report, headers));
const terminals = () => log().events(Topic.agentTerminal);
const poll = async (wait = 0) => (await get(`/v1/runtimes/host-1/orders?wait=${wait}`, runtime)).json();

beforeEach(async () => {
  const here = { agentId: 'worker-1', instanceId: 'i-1', runtimeId: 'host-1' };
  await log().publish(example(Topic.fleetPresence, 'AGENT_PRESENT', here));
});

test('lines are not taken without a lease', async () => {
  expect(await publish(change())).toMatchObject({ status: 409, body: { type: 'urn:vigil:problem:no_lease' } });
  expect(terminals()).toEqual([]);
});

test('with a lease the lines of its runtime are taken, under the key of the agent, and after its time they are not', async () => {
  await lease();
  expect(await publish(change())).toMatchObject({ status: 202 });
  expect(terminals()).toMatchObject([{ key: 'worker-1', type: 'TERMINAL_CHANGED', payload: { lines: ['one'] } }]);
  later(30_001);
  expect((await publish(change({ sequence: 1 }))).status).toBe(409);
});

test('a waiting poll of the runtime receives the lease, once, and then its end', async () => {
  const waiting = poll(55);
  await lease();
  expect(await waiting).toMatchObject({
    orders: [],
    terminals: [{ agentId: 'worker-1', leaseId: 'lease-1', expiresInMs: expect.any(Number) }],
  });
  expect(await poll()).toMatchObject({ terminals: [] });
  await lease(0);
  expect(await poll()).toMatchObject({ terminals: [{ leaseId: 'lease-1', expiresInMs: 0 }] });
});

test('a gateway that starts again has the leases', async () => {
  await lease();
  await reopen();
  expect(await poll()).toMatchObject({ terminals: [{ agentId: 'worker-1' }] });
  expect((await publish(change())).status).toBe(202);
});

test.each([
  ['another runtime', await showingClaims('runtime', 'host-2'), {}],
  ['another runtime under its own name', await showingClaims('runtime', 'host-2'), { runtimeId: 'host-2' }],
  ['the agent itself', await showingClaims('agent', 'worker-1'), {}],
])('%s publishes no lines of it', async (_, headers, more) => {
  await lease();
  expect((await publish(change(more), headers)).status).toBe(403);
  expect(terminals()).toEqual([]);
});

test.each([
  [{}, 'type'],
  [{ type: 'HEARTBEAT', payload: {} }, 'type'],
  [change({ lines: 'one' }), 'lines'],
])('a report that is not one is refused by its field: %j', async (report, field) => {
  await lease();
  expect(await publish(report)).toMatchObject({ status: 400, body: { field: expect.stringContaining(field) } });
});
