import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { delayAfter, type MachineClock } from '../clock.ts';
import { GatewayBusy } from '../errors.ts';
import { connectGateway } from './gateway-client.ts';

const servers: { close: () => void }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

const order = { type: 'NUDGE_AGENT', payload: {}, expiresInMs: 60_000 };

/** A gateway with one order that expires in a minute, and a clock that passes while its answer is under way. */
const asking = async (passed: Partial<MachineClock>, waitedMs?: number) => {
  const passing = { now: 0, monotonic: 0 };
  const server = createServer((_, response) => {
    passing.now = passed.now?.() ?? 0;
    passing.monotonic = passed.monotonic?.() ?? 0;
    response.end(JSON.stringify({ orders: [order], recalled: [], waitedMs }));
  });
  const {
    orders: [offered],
  } = await ordersOf(server, {
    now: () => 1_000 + passing.now,
    monotonic: () => 5 + passing.monotonic,
  });
  return offered?.expiresInMs;
};

const ordersOf = async (server: Server, clock: MachineClock) => {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return connectGateway({ url, token: '' }, clock).orders('host-1', 0, new AbortController().signal);
};

test('orders that the gateway recalls come first and are marked', async () => {
  const server = createServer((_, response) =>
    response.end(JSON.stringify({ orders: [order], recalled: [{ ...order, expiresInMs: 1 }], waitedMs: 0 })),
  );
  const offered = await ordersOf(server, { now: () => 0, monotonic: () => 0 });
  expect(offered.orders).toEqual([
    { ...order, expiresInMs: 1, isRecalled: true, policy: null },
    { ...order, isRecalled: false, policy: null },
  ]);
});

test('an order that waited at the gateway for its runtime is as fresh as the gateway reports', async () => {
  expect(await asking({ monotonic: () => 25_000, now: () => 25_000 }, 25_000)).toBe(60_000);
});

test('an answer that was unread while the process stood still counts against the time to live', async () => {
  expect(await asking({ monotonic: () => 90_000, now: () => 90_000 }, 20_000)).toBe(-10_000);
});

test('so does one that was unread while the machine slept, and its monotonic clock with it', async () => {
  expect(await asking({ monotonic: () => 20_000, now: () => 90_000 }, 20_000)).toBe(-10_000);
});

test('a clock set back makes no order fresher', async () => {
  expect(await asking({ monotonic: () => 25_000, now: () => -3_600_000 }, 20_000)).toBe(55_000);
});

test('a gateway that does not report its waiting time counts as having answered just now', async () => {
  expect(await asking({ monotonic: () => 25_000, now: () => 25_000 })).toBe(60_000);
});

test.each([
  ['429', 429, '60', 60_000],
  ['503', 503, '1', 1_000],
  ['a day', 429, '86400', 300_000],
  ['no time', 503, undefined, 0],
  ['a date', 503, 'Wed, 25 Nov 2026 10:00:00 GMT', 0],
])('a busy gateway names when to try again: %s', async (_, status, header, retryAfterMs) => {
  const server = createServer((_request, response) =>
    response.writeHead(status, header === undefined ? {} : { 'retry-after': header }).end('{}'),
  );
  const clock = { now: () => 0, monotonic: () => 0 };
  await expect(ordersOf(server, clock)).rejects.toMatchObject({ name: 'GatewayAway', retryAfterMs });
});

test('the wait after a failure is the one that the gateway names, or longer after several', () => {
  const busy = new GatewayBusy('busy', 1000);
  expect([1, 2, 3, 4].map((failures) => delayAfter(busy, failures))).toEqual([1000, 1000, 1000, 2000]);
  expect(delayAfter(new Error('away'), 1)).toBe(250);
});
