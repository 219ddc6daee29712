import { type Logger, readConfig } from '@vigil/chassis';
import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { MemoryLog } from '@vigil/stream/memory';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LARGEST_BODY } from './body.ts';
import { config } from './config.ts';
import { type Gateway, openGateway } from './gateway.ts';

const token = 'a-token-for-tests-only';
const quiet = { child: () => quiet, level: 'silent' } as unknown as Logger;
for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const) quiet[level] = () => {};

const least = {
  agent_id: 'worker-1',
  task_id: null,
  timestamp: '2026-11-22T00:00:00Z',
  phase: 'implement',
  last_tool_call: null,
  token_count: 10,
  error_count: 0,
  progress_indicator: 'step 1',
};
const nudge = example(Topic.agentOrder, 'NUDGE_AGENT', { ttlMs: 60_000 });
const receipt = example(Topic.orderReceipt, 'ORDER_RECEIPT');

let log: MemoryLog;
let gateway: Gateway;
let stop: AbortController;

beforeEach(async () => {
  log = new MemoryLog();
  stop = new AbortController();
  const env = { KAFKA_BROKERS: 'memory:1', SCHEMA_REGISTRY_URL: 'http://memory', VIGIL_GATEWAY_TOKEN: token };
  const settings = { ...readConfig(config, env), VIGIL_GATEWAY_PORT: 0 };
  await log.say(
    example(Topic.policy, 'POLICY_PUBLISHED', {
      name: 'vigil',
      hash: 'h1',
      document: '{"heartbeat":{"interval":"30s"}}',
    }),
  );
  gateway = await openGateway(log, settings, { log: quiet, count: () => {}, signal: stop.signal, now: Date.now });
});

afterEach(async () => {
  stop.abort();
  await gateway[Symbol.asyncDispose]();
});

const authorization = `Bearer ${token}`;
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(gateway.url + path, { headers: { authorization, ...headers } });
const postRaw = (path: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  fetch(gateway.url + path, {
    method: 'POST',
    body,
    headers: { authorization, 'content-type': 'application/json', ...headers },
  });
const post = (path: string, body: unknown) => postRaw(path, JSON.stringify(body));
const answerOf = async (response: Response) => ({
  status: response.status,
  body: (await response.json()) as Record<string, unknown>,
});

describe('heartbeats', () => {
  test('are accepted when they are written, keyed by their agent, as having come through the gateway', async () => {
    expect(await answerOf(await post('/v1/heartbeats', { ...least, door: 'elsewhere' }))).toEqual({
      status: 202,
      body: { accepted: 1, orders: [], policy: { name: 'vigil', hash: 'h1' }, intervalMs: 30_000 },
    });
    expect(log.events(Topic.heartbeat)).toMatchObject([
      { key: 'worker-1', payload: { agent_id: 'worker-1', door: 'gateway' } },
    ]);
  });

  test('come one or many at a time', async () => {
    const answer = await post('/v1/heartbeats', [least, { ...least, agent_id: 'worker-2' }]);
    expect(await answer.json()).toMatchObject({ accepted: 2 });
    expect(
      log
        .events(Topic.heartbeat)
        .map(({ key }) => key)
        .sort(),
    ).toEqual(['worker-1', 'worker-2']);
  });

  test('are answered with the orders that await the agent, where no runtime of it polls', async () => {
    await log.say({ ...nudge, correlationId: 'c-1' });
    const answer = await post('/v1/heartbeats', { ...least, instance_id: 'worker-1.i1' });
    expect(await answer.json()).toMatchObject({ orders: [{ type: 'NUDGE_AGENT', payload: { orderId: 'order-1' } }] });
  });

  test('none at all are accepted too', async () => {
    expect((await post('/v1/heartbeats', [])).status).toBe(202);
  });

  test('of a list with one mistake, none is written, and its place is named', async () => {
    const answer = await answerOf(await post('/v1/heartbeats', [least, { ...least, token_count: 'many' }]));
    expect(answer).toMatchObject({ status: 400, body: { index: 1, field: 'token_count' } });
    expect(log.events(Topic.heartbeat)).toEqual([]);
  });
});

const { agent_id: _, ...nameless } = least;
const invalidUtf8 = new Uint8Array([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d]);
const text = (value: unknown) => JSON.stringify(value);

describe('bad input has its documented answer, and nothing is written', () => {
  test.each<[string, string | Uint8Array<ArrayBuffer>, number, string, string | null]>([
    ['not JSON', 'I am fine', 400, 'not_json', null],
    ['nothing', '', 400, 'not_json', null],
    ['half a document', text(least).slice(0, 40), 400, 'not_json', null],
    ['invalid UTF-8', invalidUtf8, 400, 'invalid_utf8', null],
    ['gzip', new Uint8Array([0x1f, 0x8b, 8, 0]), 400, 'invalid_utf8', null],
    ['a number', '5', 400, 'bad_field', ''],
    ['no agent id', text(nameless), 400, 'missing_field:agent_id', 'agent_id'],
    ['a key of our own as agent id', text({ ...least, agent_id: '@tick/0' }), 400, 'bad_id', 'agent_id'],
    ['control characters', text({ ...least, agent_id: 'a\u0000\u001b[2J' }), 400, 'bad_id', 'agent_id'],
    ['a hostile task id', text({ ...least, task_id: "'; DROP TABLE agents; --" }), 400, 'bad_id', 'task_id'],
    ['a time that is none', text({ ...least, timestamp: 'yesterday' }), 400, 'bad_field', 'timestamp'],
    ['a list too long', text({ ...least, blockers: Array(1_001).fill('x') }), 400, 'bad_field', 'blockers'],
    ['more than 512 KiB', text({ ...least, handoff: 'x'.repeat(LARGEST_BODY) }), 413, 'too_large', null],
  ])('%s', async (_name, body, status, reason, field) => {
    const response = await postRaw('/v1/heartbeats', body);
    expect(response.headers.get('content-type')).toContain('application/problem+json');
    expect(await answerOf(response)).toMatchObject({
      status,
      body: { type: `urn:vigil:problem:${reason}`, status, field, index: null },
    });
    expect(log.events(Topic.heartbeat)).toEqual([]);
  });

  test('a content type that is not JSON', async () => {
    const response = await postRaw('/v1/heartbeats', text(least), { 'content-type': 'text/plain' });
    expect(response.status).toBe(415);
  });

  test('hostile texts in fields are taken as what they are: texts', async () => {
    const hostile = "<script>alert(1)</script>\u0000\u202e'; DROP TABLE agents; --";
    expect((await post('/v1/heartbeats', { ...least, phase: hostile })).status).toBe(202);
    expect(log.events(Topic.heartbeat)).toMatchObject([{ payload: { phase: hostile } }]);
  });

  test('an address that is none', async () => {
    expect(await answerOf(await get('/v2/heartbeats'))).toMatchObject({ status: 404, body: { title: 'Not here' } });
    expect((await get('/v1/policies/%zz')).status).toBe(400);
  });
});

describe('the token', () => {
  test.each(['', 'Bearer', `Bearer ${token}x`, `Basic ${token}`, token])('%j lets nobody in', async (wrong) => {
    const response = await postRaw('/v1/heartbeats', JSON.stringify(least), { authorization: wrong });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(log.events(Topic.heartbeat)).toEqual([]);
  });
});

describe('a runtime that polls', () => {
  test('gets what is pending at once', async () => {
    await log.say(nudge);
    const answer = await get('/v1/runtimes/host-1/orders?wait=25');
    const { orders } = (await answer.json()) as { orders: { expiresInMs: number }[] };
    expect(orders).toMatchObject([{ type: 'NUDGE_AGENT', payload: nudge.payload }]);
    expect(orders[0]?.expiresInMs).toBeLessThanOrEqual(nudge.payload.ttlMs);
  });

  test('gets an order when it comes', async () => {
    const polling = get('/v1/runtimes/host-1/orders?wait=25').then(answerOf);
    await post('/v1/heartbeats', least);
    await log.say(nudge);
    expect((await polling).body.orders).toHaveLength(1);
  });

  test('gets nothing when nothing comes, or what comes is for another', async () => {
    await log.say(nudge);
    expect(await answerOf(await get('/v1/runtimes/host-2/orders?wait=0.1'))).toEqual({
      status: 200,
      body: { orders: [] },
    });
  });

  test('gets nothing more of what it has given a receipt for', async () => {
    await log.say(nudge);
    expect((await post('/v1/receipts', { type: 'ORDER_RECEIPT', payload: receipt.payload })).status).toBe(202);
    expect((await answerOf(await get('/v1/runtimes/host-1/orders?wait=0.1'))).body.orders).toEqual([]);
  });

  test('is sent home with nothing when the gateway stops', async () => {
    const polling = get('/v1/runtimes/host-1/orders?wait=25').then(answerOf);
    await post('/v1/heartbeats', least);
    stop.abort();
    expect(await polling).toEqual({ status: 200, body: { orders: [] } });
  });

  test.each([
    '/v1/runtimes/a%0ab/orders',
    '/v1/runtimes/host-1/orders?wait=soon',
    '/v1/runtimes/host-1/orders?wait=-1',
  ])('%s is refused', async (path) => {
    expect((await get(path)).status).toBe(400);
  });
});

describe('receipts', () => {
  test('are written each to its topic, under its key, in the chain that its order began', async () => {
    await log.say({ ...nudge, correlationId: 'c-1' });
    const spawned = example(Topic.spawnReceipt, 'SPAWN_RECEIPT', { orderId: 'order-2' });
    const exited = example(Topic.steerAgent, 'AGENT_EXITED', { orderId: null });
    const announced = example(Topic.runtimePresence, 'RUNTIME_ANNOUNCED');
    const told = [receipt, spawned, exited, announced].map(({ type, payload }) => ({ type, payload }));
    expect(await answerOf(await post('/v1/receipts', told))).toEqual({ status: 202, body: { accepted: 4 } });
    expect(log.events(Topic.orderReceipt)).toMatchObject([
      { key: 'worker-1', payload: receipt.payload, correlationId: 'c-1' },
    ]);
    expect(log.events(Topic.spawnReceipt)).toMatchObject([
      { key: 'OMN-1234', payload: spawned.payload, correlationId: 'order-2' },
    ]);
    expect(log.events(Topic.steerAgent)).toMatchObject([{ key: 'worker-1', payload: exited.payload }]);
    expect(log.events(Topic.runtimePresence)).toMatchObject([{ key: 'fleet', payload: announced.payload }]);
  });

  test('told twice have one id', async () => {
    for (const _time of [1, 2]) await post('/v1/receipts', { type: 'ORDER_RECEIPT', payload: receipt.payload });
    const [first, second] = log.events(Topic.orderReceipt);
    expect(first?.eventId).toBe(second?.eventId);
  });

  test.each([
    [{ type: 'CONFIRM_DEATH', payload: {} }, 'type'],
    [{ type: 'constructor', payload: {} }, 'type'],
    [null, 'type'],
    [{ type: 'ORDER_RECEIPT' }, ''],
    [{ type: 'ORDER_RECEIPT', payload: { ...receipt.payload, agentId: 'a b' } }, 'agentId'],
  ])('%j is refused, naming %j', async (body, field) => {
    expect(await answerOf(await post('/v1/receipts', body))).toMatchObject({ status: 400, body: { field } });
  });
});

describe('a policy', () => {
  test('is served by name, and not again to who has it', async () => {
    const response = await get('/v1/policies/vigil');
    expect(response.headers.get('etag')).toBe('"h1"');
    expect(await response.json()).toEqual({ name: 'vigil', hash: 'h1', document: { heartbeat: { interval: '30s' } } });
    expect((await get('/v1/policies/vigil', { 'if-none-match': '"h1"' })).status).toBe(304);
    expect((await get('/v1/policies/vigil', { 'if-none-match': '"h0"' })).status).toBe(200);
  });

  test('that nobody published is not there', async () => {
    expect((await get('/v1/policies/nobody')).status).toBe(404);
  });
});

test('where the log does not take it, the answer is to send it again', async () => {
  Object.assign(log, { write: () => Promise.reject(new Error('the broker is away')) });
  const again = await openGateway(
    log,
    {
      ...readConfig(config, { KAFKA_BROKERS: 'm:1', SCHEMA_REGISTRY_URL: 'http://m', VIGIL_GATEWAY_TOKEN: token }),
      VIGIL_GATEWAY_PORT: 0,
    },
    { log: quiet, count: () => {}, signal: stop.signal, now: Date.now },
  );
  const response = await fetch(`${again.url}/v1/heartbeats`, {
    method: 'POST',
    body: JSON.stringify(least),
    headers: { authorization, 'content-type': 'application/json' },
  });
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('1');
  expect(await response.text()).not.toContain('broker');
  await again[Symbol.asyncDispose]();
});
