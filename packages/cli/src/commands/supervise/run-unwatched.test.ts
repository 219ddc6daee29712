import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { vigilProgram } from '../../program.fixture.ts';

let dir = '';
let asked = 0;
const server = createServer((_, response) => {
  asked += 1;
  response.end('{"orders":[]}');
});
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'vigil-cli-'));
  asked = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  server.close();
  server.closeAllConnections();
  rmSync(dir, { recursive: true, force: true });
});

/** Every file that it writes to stays empty, as on a full disk; pipes do not. */
const ON_FULL_DISK = 'trap "" XFSZ; ulimit -f 0; exec "$0" "$@"';

const state = () => join(dir, 'state');
const start = (args: readonly string[], script = 'exec "$0" "$@"') => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { PATH: process.env.PATH ?? '', USER: 'ada', TMPDIR: dir, HOME: dir };
  const child = spawn('/bin/sh', ['-c', script, process.execPath, vigilProgram, 'run', ...args], {
    env: { ...env, VIGIL_STATE_DIR: state(), VIGIL_GATEWAY_URL: url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
  return { child, ended: ended.then(([[code], out, err]) => ({ code: code as number, out, err })) };
};
const files = (): readonly string[] => readdirSync(dir, { recursive: true, encoding: 'utf8' });

test('where the disk is full the command runs as if Vigil were not there, and one line reports it', async () => {
  const { code, out, err } = await start(
    ['--name', 'worker-1', '--', '/bin/sh', '-c', 'echo works; exit 3'],
    ON_FULL_DISK,
  ).ended;
  expect({ code, out }).toEqual({ code: 3, out: 'works\n' });
  expect(err).toBe(
    `vigil: not watched: nothing can be written to the state folder ${state()} (EFBIG: file too large, write): make room there, or choose another --dir (VIGIL_STATE_DIR)\n`,
  );
  expect(files()).toEqual(['state']);
});

test('with --require it does not start, and without a terminal of its own it does not either', async () => {
  const ran = join(dir, 'ran');
  for (const option of ['--require', '--detach']) {
    const { code, err } = await start(['--name', 'worker-1', option, '--', 'mkdir', ran], ON_FULL_DISK).ended;
    expect(code).not.toBe(0);
    expect(err).toContain(`nothing can be written to the state folder ${state()}`);
    expect(err.trim().split('\n')).toHaveLength(1);
  }
  expect(existsSync(ran)).toBe(false);
});

test('a signal reaches a command that runs without Vigil', async () => {
  writeFileSync(state(), 'a file where a folder belongs');
  const ready = join(dir, 'ready');
  const script = `trap "exit 5" TERM; touch ${ready}; while :; do sleep 0.05; done`;
  const { child, ended } = start(['--name', 'worker-1', '--', '/bin/sh', '-c', script]);
  await vi.waitFor(() => expect(existsSync(ready)).toBe(true), { timeout: 60_000 });
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ code: 5 });
});

test('a signal that its command causes at once reaches the command', async () => {
  writeFileSync(state(), 'a file where a folder belongs');
  const script = 'trap "exit 5" TERM; kill -TERM $PPID; while :; do sleep 0.05; done';
  expect(await start(['--name', 'worker-1', '--', '/bin/sh', '-c', script]).ended).toMatchObject({ code: 5 });
});

test.each([[[]], [['--detach']]])(
  'a name that is not one is refused before any file or gateway is touched %s',
  async (more) => {
    const { code, err } = await start(['--name', '../../evil', ...more, '--', 'true']).ended;
    expect(code).toBe(2);
    expect(err).toContain('"../../evil" is not an agent\'s name');
    expect([files(), asked]).toEqual([[], 0]);
  },
);
