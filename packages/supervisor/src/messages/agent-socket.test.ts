import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ReportedFields } from './agent-report.ts';
import { type AgentSocket, openSocket } from './agent-socket.ts';

const deaf = { onReport: () => {}, onHook: () => {} };
let dir: string;
let socket: AgentSocket | undefined;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'vigil-socket-'));
});
afterEach(async () => {
  await socket?.close();
  socket = undefined;
  rmSync(dir, { recursive: true, force: true });
});

test('only the endless line is lost: the following line is read', async () => {
  const received = Promise.withResolvers<ReportedFields>();
  socket = await openSocket(join(dir, 's', 'a.sock'), { onReport: received.resolve, onHook: () => {} }, null);
  const client = connect(join(dir, 's', 'a.sock'));
  const answers = createInterface({ input: client });
  const answered = once(answers, 'line');
  client.write('x'.repeat(10 << 20));
  client.write('\n{"phase":"wo');
  client.write('rk"}\n');
  expect(String(await answered)).toContain('longer than');
  expect(await received.promise).toEqual({ phase: 'work' });
  client.destroy();
});

test('the last reports of a process that has ended are read, also where this process was busy until then', async () => {
  const reports: ReportedFields[] = [];
  socket = await openSocket(join(dir, 's', 'a.sock'), { onReport: (one) => reports.push(one), onHook: () => {} }, null);
  const write = `
    const socket = require('node:net').connect(${JSON.stringify(join(dir, 's', 'a.sock'))});
    for (let at = 0; at < 20; at += 1) socket.write(JSON.stringify({ phase: 'part ' + at }) + '\\n');
    socket.write(JSON.stringify({ phase: 'the end' }), () => process.exit(0));`;
  // It blocks this process until the other one has ended.
  expect(spawnSync(process.execPath, ['-e', write], { timeout: 30_000 }).status).toBe(0);
  expect(reports).toEqual([]);
  await socket.drain();
  expect(reports).toHaveLength(21);
  expect(reports.at(-1)).toEqual({ phase: 'the end' });
});

test('a helper that lives on and keeps sending does not delay the end of its agent for ever', async () => {
  socket = await openSocket(join(dir, 's', 'a.sock'), deaf, null);
  const helper = connect(join(dir, 's', 'a.sock'));
  let isEnded = false;
  const send = (): void => void (isEnded || helper.write('{"phase":"work"}\n', () => setImmediate(send)));
  helper.on('connect', send);
  await once(helper, 'connect');
  await socket.drain();
  isEnded = true;
  helper.destroy();
});

test('a client that sends many invalid lines and reads nothing is cut off', async () => {
  socket = await openSocket(join(dir, 's', 'a.sock'), deaf, null);
  const client = connect(join(dir, 's', 'a.sock')).on('error', () => {});
  client.pause();
  const gone = new Promise((resolve) => void client.on('close', resolve));
  const shout = () => {
    while (!client.destroyed && client.write('nonsense\n'.repeat(1000)));
  };
  client.on('drain', shout);
  shout();
  await gone;
});

test('no other user can look into the folder, even if it existed before', async () => {
  mkdirSync(join(dir, 's'));
  chmodSync(join(dir, 's'), 0o777);
  socket = await openSocket(join(dir, 's', 'a.sock'), deaf, null);
  // Root has agents of other users, which enter it and cannot list it.
  expect(statSync(join(dir, 's')).mode & 0o777).toBe(process.getuid?.() === 0 ? 0o711 : 0o700);
  expect(statSync(join(dir, 's', 'a.sock')).mode & 0o777).toBe(0o600);
});

test('a folder that is a link to somewhere is not taken', async () => {
  mkdirSync(join(dir, 'elsewhere'));
  symlinkSync(join(dir, 'elsewhere'), join(dir, 's'));
  await expect(openSocket(join(dir, 's', 'a.sock'), deaf, null)).rejects.toThrow(/is not a folder of this user/);
});

const text = { nudge: 'save', order_id: 'o1' } as const;
const SELDOM_MS = 60_000;
/** A listener, and the lines that it receives. */
const listener = async () => {
  const path = join(dir, 's', 'a.sock');
  const received = Promise.withResolvers<ReportedFields>();
  socket = await openSocket(path, { onReport: received.resolve, onHook: () => {} }, null);
  const client = connect(path);
  const lines = createInterface({ input: client })[Symbol.asyncIterator]();
  const send = (report: object) => void client.write(`${JSON.stringify(report)}\n`);
  send({ phase: 'work' });
  await received.promise;
  return { socket, send, next: async () => JSON.parse((await lines.next()).value ?? 'null'), client };
};

test('a text is confirmed when a listener names its order, and not by another order', async () => {
  const one = await listener();
  const delivery = one.socket.deliver(text, SELDOM_MS);
  expect(await one.next()).toEqual(text);
  one.send({ received: 'o2' });
  one.send({ received: 7 });
  expect((await one.next()).problems).toEqual([expect.stringContaining('received')]);
  expect(await Promise.race([delivery, Promise.resolve('open')])).toBe('open');
  one.send({ received: 'o1' });
  expect(await delivery).toBe('confirmed');
  one.client.destroy();
});

test('a text that no listener confirms in time is unconfirmed, and so is one whose socket closes', async () => {
  const one = await listener();
  expect(await one.socket.deliver(text, 1)).toBe('unconfirmed');
  const delivery = one.socket.deliver({ ...text, order_id: 'o2' }, SELDOM_MS);
  await one.socket.close();
  expect(await delivery).toBe('unconfirmed');
  one.client.destroy();
});

test('a text is not delivered where no program listens', async () => {
  socket = await openSocket(join(dir, 's', 'a.sock'), deaf, null);
  expect(await socket.deliver(text, SELDOM_MS)).toBe('no_listener');
});

/** A connection that has sent nothing yet, and the lines that it receives. */
const silentClient = async () => {
  const path = join(dir, 's', 'a.sock');
  socket = await openSocket(path, deaf, null);
  const client = connect(path);
  await once(client, 'connect');
  const lines = createInterface({ input: client })[Symbol.asyncIterator]();
  return { socket, client, next: async () => JSON.parse((await lines.next()).value ?? 'null') };
};

test('a program that only listens counts as a listener, and receives texts and requests to checkpoint', async () => {
  const silent = await silentClient();
  await vi.waitFor(() => expect(silent.socket.hasClient()).toBe(true), { timeout: 30_000 });
  const delivery = silent.socket.deliver(text, 1);
  expect(await silent.next()).toEqual(text);
  expect(await delivery).toBe('unconfirmed');
  const request = { type: 'checkpoint_request', reason: 'stall_detected', deadline_ms: 1000 } as const;
  silent.socket.push(request);
  expect(await silent.next()).toEqual(request);
  silent.client.destroy();
});

test('a request to checkpoint reaches a program that has only just connected', async () => {
  // Nothing counts as a listener yet.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const silent = await silentClient();
    const received: unknown[] = [];
    void silent.next().then((line) => received.push(line));
    const request = { type: 'checkpoint_request', reason: 'stall_detected', deadline_ms: 1000 } as const;
    for (let tries = 0; tries < 5000 && received.length === 0; tries += 1) {
      silent.socket.push(request);
      await new Promise(setImmediate);
    }
    expect([received, silent.socket.hasClient()]).toEqual([[request], false]);
    silent.client.destroy();
  } finally {
    vi.useRealTimers();
  }
});

test('a hook never counts as a listener, however long it stays', async () => {
  const path = join(dir, 's', 'a.sock');
  const asked = Promise.withResolvers<void>();
  socket = await openSocket(path, { onReport: () => {}, onHook: () => asked.resolve() }, null);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const client = connect(path);
    client.write('{"hook":{"spooled":"1"}}\n');
    await asked.promise;
    vi.advanceTimersByTime(60_000);
    expect(socket.hasClient()).toBe(false);
    client.destroy();
  } finally {
    vi.useRealTimers();
  }
});
