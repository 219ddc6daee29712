import { randomBytes } from 'node:crypto';
import { kafkaIn, type Logger, readConfig } from '@vigil/chassis';
import { connectCodec, registerSchemas, registryFrom, Topic, topicNames } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { applyTopics, connectLog, kafkaFrom, type Log, silentLogger, writer } from '@vigil/stream';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { config } from './config.ts';
import { type Gateway, openGateway } from './gateway.ts';
import { createTokenSigner } from './http/token-signing.ts';
import { claimsOf } from './testing.ts';

const RUN = randomBytes(4).toString('hex');
const token = `a-token-of-${RUN}`;
const agentId = `agent-${RUN}`;
const runtimeId = `host-${RUN}`;
const quiet = { debug: () => {}, error: () => {}, warn: () => {}, info: () => {} } as unknown as Logger;
const secret = `a-secret-for-the-tests-of-run-${RUN}`;
const settings = {
  ...kafkaIn(readConfig(config, { ...process.env, VIGIL_GATEWAY_TOKEN: token, VIGIL_GATEWAY_SECRET: secret })),
  VIGIL_GATEWAY_PORT: 0,
  VIGIL_DEFAULT_POLICY: `policy-${RUN}`,
};
const signer = createTokenSigner([secret]);
const opened = new AsyncDisposableStack();
const over = new AbortController();
let log: Log;
let gateway: Gateway;

const open = async (kafka = log): Promise<Gateway> =>
  opened.use(
    await openGateway(kafka, settings, { logger: quiet, count: () => {}, signal: over.signal, now: Date.now }),
  );
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
const post = (path: string, body: unknown) =>
  fetch(gateway.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
const ordersAt = async ({ url }: Gateway, wait: number): Promise<unknown> =>
  (await (await fetch(`${url}/v1/runtimes/${runtimeId}/orders?wait=${wait}`, { headers })).json()) as unknown;

beforeAll(async () => {
  const { VIGIL_PARTITIONS: partitions } = settings;
  await applyTopics({ kafka: kafkaFrom(settings), partitions, replicas: 1 });
  await registerSchemas(registryFrom(settings));
  log = opened.use(
    await connectLog({
      kafka: kafkaFrom(settings),
      clientId: `test-${RUN}`,
      codec: await connectCodec(registryFrom(settings), topicNames),
      logger: silentLogger,
    }),
  );
  gateway = await open();
});

afterAll(async () => {
  over.abort();
  await opened.disposeAsync();
});

test('a heartbeat that was accepted is in its topic', async () => {
  const before = await log.bounds(Topic.heartbeat);
  const answer = await post('/v1/heartbeats', example(Topic.heartbeat, 'HEARTBEAT', { agent_id: agentId }).payload);
  expect(answer.status).toBe(202);
  const after = await log.bounds(Topic.heartbeat);
  const keys: (string | null)[] = [];
  for (const [partition, { high }] of after.entries())
    await log.read(
      Topic.heartbeat,
      partition,
      { low: before[partition]?.high ?? 0, high },
      ({ key }) => keys.push(key),
      over.signal,
    );
  expect(keys.filter((key) => key === agentId)).toEqual([agentId]);
});

test('an order reaches the runtime that waits for it; an instance that starts later has it too, until its receipt', async () => {
  const order = example(Topic.agentOrder, 'NUDGE_AGENT', {
    orderId: `order-${RUN}`,
    agentId,
    runtimeId,
    ttlMs: 60_000,
  });
  const waiting = ordersAt(gateway, 25);
  await writer(log, Date.now).write([{ ...order, key: agentId }]);
  expect(await waiting).toMatchObject({ orders: [{ type: 'NUDGE_AGENT', payload: order.payload }] });
  expect(await ordersAt(await open(), 0)).toMatchObject({ orders: [{ payload: order.payload }] });
  const { payload } = example(Topic.orderReceipt, 'ORDER_RECEIPT', { orderId: `order-${RUN}`, agentId, runtimeId });
  expect((await post('/v1/receipts', { type: 'ORDER_RECEIPT', payload })).status).toBe(202);
  expect(await ordersAt(await open(), 0)).toMatchObject({ orders: [] });
});

test('an agent that is not healthy is watched more closely by each instance, also by one that starts later', async () => {
  const policy = settings.VIGIL_DEFAULT_POLICY;
  const document = '{"heartbeat":{"interval":"30s"}}';
  const published = { name: policy, hash: RUN, document, withdrawn: false };
  const state = example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', { agentId, to: 'DEGRADED' });
  await writer(log, Date.now).write([
    { ...example(Topic.policy, 'POLICY_PUBLISHED', published), key: policy },
    { ...state, key: agentId },
  ]);
  const askedBy = async ({ url }: Gateway): Promise<unknown> =>
    (await (await fetch(`${url}/v1/agents/${agentId}/orders`, { headers })).json()) as unknown;
  const closer = { intervalMs: 10_000, intervalReason: 'DEGRADED' };
  await vi.waitFor(async () => expect(await askedBy(gateway)).toMatchObject(closer), {
    timeout: 60_000,
    interval: 100,
  });
  expect(await askedBy(await open())).toMatchObject(closer);
});

test('a lagging instance reads the order that another has offered before it checks a receipt; a receipt without an order is refused for good', async () => {
  const lagging = await open({ ...log, follow: async () => ({ ready: () => true }) });
  const nudge = { orderId: `order-2-${RUN}`, agentId, runtimeId, ttlMs: 60_000 };
  const order = example(Topic.agentOrder, 'NUDGE_AGENT', nudge);
  await writer(log, Date.now).write([{ ...order, key: agentId }]);
  const postReceipt = async (orderId: string, name: string) =>
    fetch(`${lagging.url}/v1/receipts`, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${await signer.sign(claimsOf('runtime', name))}` },
      body: JSON.stringify({
        type: 'ORDER_RECEIPT',
        payload: example(Topic.orderReceipt, 'ORDER_RECEIPT', { orderId, agentId, runtimeId: name }).payload,
      }),
    });
  expect((await postReceipt(nudge.orderId, 'another-host')).status).toBe(403);
  expect((await postReceipt(nudge.orderId, runtimeId)).status).toBe(202);
  expect((await postReceipt(`missing-${RUN}`, runtimeId)).status).toBe(409);
});
