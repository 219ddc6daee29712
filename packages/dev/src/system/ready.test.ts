import { createServer, type Server } from 'node:http';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Supervised } from '../processes/supervise.ts';
import { untilReady } from './start-system.ts';

let server: Server;
let port: number;
let status: number;
let requests: number;
beforeEach(async () => {
  status = 503;
  requests = 0;
  server = createServer((_request, response) => {
    requests += 1;
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as { port: number }).port;
});
afterEach(() => {
  server.close();
});

const service = (refused: () => boolean): Supervised => ({
  name: 'gateway',
  pid: () => 1,
  kill: () => undefined,
  freeze: () => undefined,
  thaw: () => undefined,
  restarts: () => 0,
  isRefused: refused,
  endRestarts: () => undefined,
  stop: async () => undefined,
});
const never = new AbortController().signal;

it('the start waits for a service that answers 503 until it answers 200', async () => {
  const ready = untilReady(
    service(() => {
      if (requests === 3) status = 200;
      return false;
    }),
    port,
    '/logs',
    never,
  );
  await ready;
  expect(requests).toBe(4);
});

it('the start does not wait for a service that refuses to run, and names its log', async () => {
  await expect(
    untilReady(
      service(() => true),
      port,
      '/logs',
      never,
    ),
  ).rejects.toThrow('gateway refuses to run: see /logs/gateway.log');
});

it('Ctrl-C ends the wait', async () => {
  const controller = new AbortController();
  const waiting = untilReady(
    service(() => false),
    port,
    '/logs',
    controller.signal,
  );
  controller.abort();
  await expect(waiting).rejects.toThrow('aborted');
});
