import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Heartbeat, parseHeartbeat } from '@vigil/events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { examples } from './examples.fixture.ts';
import { askGateway } from './gateway.ts';
import { readInput } from './input.ts';
import { reportOf } from './report.ts';

let server: Server;
let url: string;
let dir: string;
let orders: object[];
let heartbeats: Heartbeat[];
let receipts: object[];

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'vigil-hook-'));
  [orders, heartbeats, receipts] = [[], [], []];
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    if (request.url === '/v1/heartbeats') heartbeats.push(...body.map(parseHeartbeat));
    else receipts.push(...body);
    response.writeHead(202).end(JSON.stringify({ accepted: 1, orders }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  rmSync(dir, { recursive: true, force: true });
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const send = async (event: keyof typeof examples, id: string, where = url) => {
  const env = { VIGIL_STATE_DIR: dir, VIGIL_AGENT: 'worker-1', VIGIL_GATEWAY_TOKEN: 't' };
  const fields = { ...examples[event], tool_name: 'Edit', tool_use_id: id, error: 'String not found' };
  const input = readInput(JSON.stringify(fields));
  const report = input && reportOf(input, Date.now(), env);
  if (input === null || report === null) throw new Error('no event of ours');
  return askGateway(where, input, report, env, 30_000);
};
const fails = async (times: number, where = url): Promise<void> => {
  for (let n = 0; n < times; n += 1) {
    await send('PreToolUse', `${n}`, where);
    await send('PostToolUseFailure', `${n}`, where);
  }
};

test('after five failures in a row the next call is denied, is told as no call, and Vigil hears of the breaker', async () => {
  await fails(5);
  expect((await send('PreToolUse', 'next')).denial).toMatchObject({ breaker: 'tool_execution', failures: 5 });
  const last = heartbeats.at(-1);
  expect(last?.tool_calls).toEqual([]);
  expect(last?.breakers).toMatchObject([{ name: 'tool_execution', state: 'OPEN', failures: 5 }, { state: 'CLOSED' }]);
});

test('a breaker protects where Vigil is down too', async () => {
  await fails(5, 'http://127.0.0.1:9');
  expect((await send('PreToolUse', 'next', 'http://127.0.0.1:9')).denial).toMatchObject({ breaker: 'tool_execution' });
});

test('an order closes it, once, whichever hook hears of it, and the receipt goes with the next', async () => {
  await fails(5);
  const payload = { orderId: 'reset-1', agentId: 'worker-1', instanceId: examples.Stop.session_id, runtimeId: '' };
  orders = [{ type: 'RESET_BREAKER', expiresInMs: 60_000, payload: { ...payload, name: 'tool_execution' } }];
  await send('Notification', 'x');
  expect((await send('PreToolUse', 'next')).denial).toBeNull();
  expect(heartbeats.at(-1)?.breakers).toMatchObject([{ name: 'tool_execution', state: 'CLOSED' }, {}]);
  await send('PostToolUse', 'next');
  expect(receipts).toMatchObject([{ type: 'ORDER_RECEIPT', payload: { orderId: 'reset-1', outcome: 'done' } }]);
});

test('one that its hooks do not hold cannot be closed by them', async () => {
  await fails(1);
  const payload = { orderId: 'reset-2', agentId: 'worker-1', instanceId: examples.Stop.session_id, runtimeId: '' };
  orders = [{ type: 'RESET_BREAKER', expiresInMs: 60_000, payload: { ...payload, name: 'checkpoint_write' } }];
  await send('Notification', 'x');
  await send('Notification', 'y');
  expect(receipts).toMatchObject([{ payload: { outcome: 'failed', kind: 'reset_breaker' } }]);
});
