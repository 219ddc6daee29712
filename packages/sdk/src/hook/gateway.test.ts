import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Heartbeat, parseHeartbeat, parsePayload, Topic } from '@vigil/events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { examples } from './examples.fixture.ts';
import { askGateway } from './gateway.ts';
import { readInput } from './input.ts';
import { reportOf } from './report.ts';

let server: Server;
let url: string;
let dir: string;
let status: number;
let orders: object[];
const heartbeats: Heartbeat[] = [];
const receipts: { orderId: string; outcome: string }[] = [];

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'vigil-hook-'));
  status = 202;
  orders = [];
  heartbeats.length = 0;
  receipts.length = 0;
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    if (status === 202 && request.url === '/v1/heartbeats') heartbeats.push(...body.map(parseHeartbeat));
    if (status === 202 && request.url === '/v1/receipts')
      for (const { payload } of body) receipts.push(parsePayload(Topic.orderReceipt, 'ORDER_RECEIPT', payload));
    response.writeHead(status).end(JSON.stringify({ accepted: 1, orders, authorized: request.headers.authorization }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  rmSync(dir, { recursive: true, force: true });
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const send = async (fields: object, more: Record<string, string> = {}) => {
  const env = { VIGIL_STATE_DIR: dir, VIGIL_AGENT: 'worker-1', VIGIL_GATEWAY_TOKEN: 't', ...more };
  const input = readInput(JSON.stringify(fields));
  const report = input && reportOf(input, Date.now(), env);
  if (input === null || report === null) throw new Error('no event of ours');
  // A machine that does much else answers late.
  return askGateway(url, input, report, env, 30_000);
};
const nudge = (more: object = {}) => ({
  type: 'NUDGE_AGENT',
  expiresInMs: 60_000,
  payload: {
    orderId: 'nudge-1',
    number: 1,
    agentId: 'worker-1',
    instanceId: examples.Stop.session_id,
    runtimeId: 'none',
    axes: ['repetition'],
    foldedSequence: 1,
    message: 'Are you still there?',
    ...more,
  },
});
const text = { orderId: 'nudge-1', text: 'Are you still there?' };

test('a session is an agent of its own, with one heartbeat for each event', async () => {
  for (const event of ['UserPromptSubmit', 'PreToolUse', 'PostToolUseFailure'] as const) await send(examples[event]);
  expect(heartbeats.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
  expect(heartbeats[2]).toMatchObject({
    agent_id: 'worker-1',
    instance_id: examples.Stop.session_id,
    activity: 'working',
    error_count: 1,
    tool_calls: [{ call_id: 'toolu_01ABC123', outcome: 'error', error_class: 'exit_1' }],
  });
});

test('a session that has no name is named after itself', async () => {
  await send(examples.Stop, { VIGIL_AGENT: '' });
  expect(heartbeats[0]?.agent_id).toBe(`claude-${examples.Stop.session_id}`);
});

test('hooks beside each other lose nothing, and no two heartbeats have one sequence', async () => {
  await Promise.all(Array.from({ length: 12 }, (_, n) => send({ ...examples.PostToolUse, tool_use_id: `call-${n}` })));
  await send(examples.Stop);
  const calls = heartbeats.flatMap(({ tool_calls }) => tool_calls.map(({ call_id }) => call_id));
  expect(new Set(calls).size).toBe(12);
  expect(calls).toHaveLength(12);
  expect(new Set(heartbeats.map(({ sequence }) => sequence)).size).toBe(heartbeats.length);
});

test('what the gateway did not take goes with a later hook, and is then taken once', async () => {
  status = 503;
  await send(examples.PreToolUse);
  status = 202;
  await send(examples.PostToolUse);
  expect(heartbeats).toEqual([]);
  const now = Date.now;
  Date.now = () => now() + 10_001;
  try {
    await send(examples.Stop);
  } finally {
    Date.now = now;
  }
  expect(heartbeats.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
});

test('what the gateway refuses for good is not sent again', async () => {
  status = 400;
  await send(examples.PreToolUse);
  status = 202;
  await send(examples.Stop);
  expect(heartbeats.map(({ sequence }) => sequence)).toEqual([2]);
});

test('a nudge goes once, with its receipt, however often it is offered', async () => {
  orders = [nudge()];
  const { texts, told } = await send(examples.PostToolUse);
  expect(texts).toEqual([text]);
  expect(receipts).toEqual([]);
  await told();
  expect(receipts).toMatchObject([{ orderId: 'nudge-1', outcome: 'delivered' }]);
  expect((await send(examples.PostToolUse)).texts).toEqual([]);
  expect(receipts).toHaveLength(1);
});

test('a receipt that could not be sent goes with a later hook', async () => {
  orders = [nudge()];
  const { told } = await send(examples.PostToolUse);
  status = 503;
  await told();
  status = 202;
  const now = Date.now;
  Date.now = () => now() + 10_001;
  try {
    expect((await send(examples.PostToolUse)).texts).toEqual([]);
  } finally {
    Date.now = now;
  }
  expect(receipts).toMatchObject([{ orderId: 'nudge-1', outcome: 'delivered' }]);
});

test('a text whose hook died is uncertain, and is not repeated', async () => {
  orders = [nudge()];
  expect((await send(examples.PostToolUse)).texts).toEqual([text]);
  const now = Date.now;
  Date.now = () => now() + 10_001;
  try {
    expect((await send(examples.PostToolUse)).texts).toEqual([]);
  } finally {
    Date.now = now;
  }
  expect(receipts).toMatchObject([{ orderId: 'nudge-1', outcome: 'uncertain' }]);
});

test('an event that cannot carry a text leaves it to the next', async () => {
  orders = [nudge({ foldedSequence: 9 })];
  expect((await send(examples.PreToolUse)).texts).toEqual([]);
  expect((await send(examples.PostToolUse)).texts).toEqual([text]);
});

test.each([
  ['for another life', { instanceId: 'another' }, []],
  ['about a silence that is over', { axes: ['absence'], foldedSequence: 0 }, ['superseded']],
  ['about a loop that an edit has ended', { axes: ['repetition'], foldedSequence: 0 }, ['superseded']],
  ['that has awaited a call', { awaits: [['call']], foldedSequence: 0 }, ['superseded']],
])('a text %s is not passed on', async (_, more, outcomes) => {
  orders = [nudge(more)];
  const { texts, told } = await send(examples.PostToolUse);
  await told();
  expect(texts).toEqual([]);
  expect(receipts.map(({ outcome }) => outcome)).toEqual(outcomes);
});

test('a text about what has not come is passed on, however much else the session does', async () => {
  for (const event of ['UserPromptSubmit', 'PreToolUse'] as const) await send(examples[event]);
  orders = [nudge({ axes: ['absence'], awaits: [['checkpoint']], foldedSequence: 1 })];
  expect((await send(examples.PostToolUse)).texts).toEqual([text]);
});

test('a text whose time is over is not passed on, and is answered so', async () => {
  orders = [{ ...nudge(), expiresInMs: 0 }];
  const { texts, told } = await send(examples.PostToolUse);
  await told();
  expect(texts).toEqual([]);
  expect(receipts).toMatchObject([{ outcome: 'expired' }]);
});
