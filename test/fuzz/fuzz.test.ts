import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requests, type Sent } from './requests.ts';
import type { Started } from './servers.ts';

/** 1,000 requests, or with `npm test long -- --unit test/fuzz` 10,000, whose memory is measured. */
const isLong = process.env.VIGIL_SOAK === '1';
const COUNT = isLong ? 10_000 : 1000;
const SEED = Number(process.env.VIGIL_FUZZ_SEED ?? (isLong ? Date.now() % 1_000_000 : 20_261_125));
/** The young generation has one size, because its growth at a pause of the collector looks like a leak. */
const NODE_OPTIONS = ['--expose-gc', '--min-semi-space-size=16', '--max-semi-space-size=16'];
const ROUND = 2000;
const AT_ONCE = 16;
/** A request that was cut off has no answer. The server waits longer for the rest, milliseconds. */
const SILENCE_MS = 400;
const ANSWER_MS = 20_000;

let child: ChildProcess;
let started: Started;

const answer = async <T>(): Promise<T> => {
  const [message] = await once(child, 'message');
  return message as T;
};

beforeAll(async () => {
  const file = path.join(import.meta.dirname, 'servers.ts');
  child = fork(file, { execArgv: NODE_OPTIONS, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  started = await answer<Started>();
});
afterAll(() => void child.kill());

const residentMiB = async (): Promise<number> => {
  child.send('measure');
  return (await answer<number>()) / 1024 / 1024;
};

/** The status of the answer; null: the connection was closed, or stayed silent, without one. */
const statusOf = async ({ to, bytes, isWhole }: Sent): Promise<number | null> => {
  const { port } = new URL(started[to]);
  const { promise, resolve } = Promise.withResolvers<number | null>();
  const socket = connect(Number(port), '127.0.0.1', () => socket.write(bytes));
  socket.setTimeout(isWhole ? ANSWER_MS : SILENCE_MS, () => resolve(null));
  socket.on('error', () => resolve(null));
  socket.on('close', () => resolve(null));
  socket.on('data', (data) => {
    // 100 permits to continue, and the answer follows.
    const text = data.toString('latin1').replace('HTTP/1.1 100 Continue\r\n\r\n', '');
    const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(text) ?? [];
    if (text !== '') resolve(status === undefined ? null : Number(status));
  });
  return promise.finally(() => socket.destroy());
};

const shown = ({ to, bytes }: Sent, status: number | null): string =>
  `${status} of the ${to}: ${JSON.stringify(bytes.subarray(0, 1500).toString('latin1'))}`;

const sendAll = async (sent: readonly Sent[], counts: Map<number | null, number>): Promise<readonly string[]> => {
  const failures: string[] = [];
  const rest = sent.values();
  const work = async (): Promise<void> => {
    for (const one of rest) {
      const status = await statusOf(one);
      counts.set(status, (counts.get(status) ?? 0) + 1);
      if ((status ?? 0) >= 500 || (status === null && one.isWhole)) failures.push(shown(one, status));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return failures;
};

test(`${COUNT} random and mutated requests are answered below 500, and both servers continue (seed ${SEED})`, async () => {
  const all = requests(started, COUNT, SEED);
  const counts = new Map<number | null, number>();
  const memory: number[] = [];
  for (let at = 0; at < all.length; at += ROUND) {
    expect(await sendAll(all.slice(at, at + ROUND), counts)).toEqual([]);
    memory.push(Math.round(await residentMiB()));
  }
  console.log(Object.fromEntries([...counts].toSorted()), `resident memory: ${memory.join(', ')} MiB`);
  expect(child.exitCode).toBeNull();
  const [operator = ''] = started.gatewayTokens;
  for (const [url, token] of [
    [`${started.gateway}/v1/tokens`, operator],
    [`${started.dashboard}/v1/agents`, started.dashboardToken],
  ] as const)
    expect((await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
  // Not one answer for all: requests reach the routes.
  for (const status of [200, 202, 400, 401, 403, 404, 421])
    expect(counts.get(status) ?? 0, `${status}`).toBeGreaterThan(0);
  if (isLong) expect(memory.at(-1)).toBeLessThan((memory[1] ?? 0) * 1.2);
});
