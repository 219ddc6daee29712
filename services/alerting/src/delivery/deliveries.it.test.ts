import { randomBytes } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { kafkaIn, readConfig } from '@vigil/chassis';
import { connectCodec, registerSchemas, registryFrom, Topic, topicNames } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { applyTopics, connectLog, kafkaFrom, type Log, silentLogger, writer } from '@vigil/stream';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { config } from '../config.ts';
import { SECRET, sinkDeps } from '../sinks/sinks.fixture.ts';
import { webhook } from '../sinks/webhook.ts';
import { runDeliveries } from './deliveries.ts';

const RUN = randomBytes(4).toString('hex');
const name = `hook-${RUN}`;
const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const opened = new AsyncDisposableStack();
/** ids that the receiver has taken, as often as it did */
const taken: string[] = [];
const calls = new Map<string, number>();
let url: string;
let log: Log;

/** Of each alert the first call comes to nothing in one of four ways, or to something. */
const answer = (id: string, response: ServerResponse): void => {
  const before = calls.get(id) ?? 0;
  calls.set(id, before + 1);
  const fault = before > 0 ? 'none' : (['none', 'error', 'busy', 'hangs'] as const)[calls.size % 4];
  if (fault === 'hangs') return;
  if (fault === 'error') return void response.writeHead(500).end();
  if (fault === 'busy') return void response.writeHead(429, { 'retry-after': '1' }).end();
  taken.push(id);
  response.writeHead(204).end();
};

beforeAll(async () => {
  const settings = kafkaIn(readConfig(config, process.env));
  await applyTopics({ kafka: kafkaFrom(settings), partitions: settings.VIGIL_PARTITIONS, replicas: 1 });
  await registerSchemas(registryFrom(settings));
  const codec = await connectCodec(registryFrom(settings), topicNames);
  log = opened.use(
    await connectLog({ kafka: kafkaFrom(settings), clientId: `test-${RUN}`, codec, logger: silentLogger }),
  );
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    new Webhook(SECRET).verify(body, request.headers as Record<string, string>);
    answer(String(request.headers['webhook-id']), response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opened.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});

afterAll(() => opened.disposeAsync());

const running = () => {
  const settings = webhook.settings.parse({
    kind: 'webhook',
    url,
    secret_env: 'VIGIL_WEBHOOK_SECRET',
    timeout: '3s',
  });
  const outside = { now: Date.now, timeFlows: () => true, random: () => 1, logger: quiet, count: () => {} };
  return runDeliveries(log, [webhook.open(name, settings, sinkDeps)], outside);
};

test('errors, hangs, an overloaded receiver and a restart lose nothing, and nothing is sent more than twice', async () => {
  const delivered = { deliverAt: 1, sinks: [name], alertKey: `stuck_agent:${RUN}` };
  const drafts = Array.from({ length: 40 }, (_, n) => ({
    ...example(Topic.alert, 'ALERT_RAISED', { ...delivered, deliverAt: Date.now() }),
    key: `stuck_agent:${RUN}-${n}`,
  }));
  const ids = await writer(log, Date.now).write(drafts);
  await using first = await running();
  await vi.waitFor(() => expect(taken.length).toBeGreaterThan(10), 60_000);
  await first[Symbol.asyncDispose]();
  await using _second = await running();
  await vi.waitFor(() => expect(new Set(taken)).toEqual(new Set(ids)), 60_000);
  const often = ids.map((id) => taken.filter((one) => one === id).length);
  expect(Math.max(...often)).toBeLessThanOrEqual(2);
});
