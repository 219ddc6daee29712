import { once } from 'node:events';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '../testing/orphans.ts';
import { keys, PtyHostStage } from '../testing/pty-host-stage.ts';

let on: PtyHostStage;
beforeEach(() => {
  on = new PtyHostStage();
});
afterEach(() => on.close());

test('the agent waits for a supervisor that lags, so that nothing is missed; without a supervisor it does not wait', async () => {
  const prints = (word: string) =>
    `i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo "${word} $i of a long output"; done; echo end`;
  await on.pauseControl(`read go; ${prints('line')}; read more; ${prints('more')}; sleep 600`, 1 << 16);
  const supervisor = await on.supervise();
  // There before anything is printed: the ring keeps the end of it only.
  const viewer = await on.look();
  supervisor.link.pause();
  supervisor.link.send({ input: keys('\r') });
  await until(() => expect(viewer.text).toContain('line 100 '));
  supervisor.link.resume();
  await until(() => expect(supervisor.text).toContain('end'));
  expect(supervisor.others).toEqual([]);
  expect(supervisor.text.match(/line/g)).toHaveLength(20_000);
  supervisor.link.pause();
  supervisor.link.send({ input: keys('\r') });
  supervisor.link.close();
  // No agent waits for viewers: one that was too slow is cut off, and looks again.
  const glance = async (): Promise<string> => {
    const orphan = await on.look(false, 1 << 10);
    await sleep(50);
    orphan.link.close();
    return orphan.text;
  };
  for (let seen = ''; !seen.includes('more 20000 of a long output\r\nend'); ) seen = await glance();
});

test('there is one supervisor at a time; its notes pass to the next one', async () => {
  await on.pauseControl('sleep 600');
  const first = await on.supervise();
  await expect(on.supervise()).rejects.toThrow(`it is supervised by process ${process.pid} already`);
  first.link.send({ note: { sequence: 7 } });
  first.link.close();
  await first.link.closed;
  const second = await on.supervise();
  expect(second.link.hosted).toMatchObject({ kept: { a: 1 }, note: { sequence: 7 } });
});

test('an end is kept, with its code and time, until its supervisor acknowledges it', async () => {
  await on.pauseControl('echo done; exit 3');
  const viewer = await on.look();
  await until(() => expect(viewer.others).toEqual([{ ended: { code: 3, signal: null, at: expect.any(Number) } }]));
  const supervisor = await on.supervise();
  await until(() => expect(supervisor.others).toEqual(viewer.others));
  expect(supervisor.text).toBe('done\r\n');
  supervisor.link.send({ bye: true });
  await until(() => expect(on.isThere).toBe(false));
  expect(statSync(on.path, { throwIfNoEntry: false })).toBeUndefined();
});

test('without its folder a PTY host keeps an agent, but not an end that no supervisor can fetch', async () => {
  await on.pauseControl('read go; exit 3');
  const supervisor = await on.supervise();
  rmSync(dirname(on.path), { recursive: true });
  supervisor.link.send({ input: keys('\r') });
  await until(() => expect(supervisor.others).toMatchObject([{ ended: { code: 3 } }]));
  await supervisor.link.closed;
  await until(() => expect(on.isThere).toBe(false));
});

test('no other user can reach it', async () => {
  await on.pauseControl('sleep 600');
  expect(statSync(on.path).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(on.path)).mode & 0o777).toBe(0o700);
});

test('another program in its place is not used', async () => {
  mkdirSync(dirname(on.path), { recursive: true });
  writeFileSync(on.path, 'garbage');
  await expect(on.supervise()).rejects.toThrow('is not a socket of this user');
  rmSync(on.path);
  const server = createServer((socket) => socket.end('garbage\n')).listen(on.path);
  await once(server, 'listening');
  await expect(on.supervise()).rejects.toThrow(/JSON/);
  server.close();
});

test('a state folder too deep for a socket is refused with what to do', async () => {
  on.dir = join(on.dir, 'x'.repeat(100));
  await expect(on.pauseControl('sleep 1')).rejects.toThrow(/has at most 103: choose a shorter --dir/);
});

test('a program that does not exist ends at once with 127, as in a shell', async () => {
  await on.pauseControl('exec no-such-program');
  const viewer = await on.look();
  await until(() => expect(viewer.others).toMatchObject([{ ended: { code: 127 } }]));
});
