import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { examples } from './examples.fixture.ts';

const vigil = fileURLToPath(new URL('../../../dev/bootstrap/vigil.mjs', import.meta.url));
const quiet = { code: 0, stdout: '', stderr: '' };
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'vigil-hook-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

type Run = { readonly code: number | null; readonly stdout: string; readonly stderr: string };
const run = (input: string | Buffer, env: Record<string, string> = {}): Promise<Run> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [vigil, 'hook'], {
      env: { PATH: process.env.PATH ?? '', VIGIL_STATE_DIR: dir, ...env },
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (data) => {
      stdout += data;
    });
    child.stderr.on('data', (data) => {
      stderr += data;
    });
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });

/** A gateway that takes connections, and answers nothing. */
const muteGateway = async (work: (url: string) => Promise<void>): Promise<void> => {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  server.close();
};
const stop = JSON.stringify(examples.Stop);

test('with nothing there, each event is silent', async () => {
  for (const example of Object.values(examples)) expect(await run(JSON.stringify(example))).toEqual(quiet);
});

test('with everything down, it is silent', async () => {
  expect(await run(stop, { VIGIL_SOCKET: join(dir, 'none.sock') })).toEqual(quiet);
  expect(await run(stop, { VIGIL_SOCKET: dir })).toEqual(quiet);
  expect(await run(stop, { VIGIL_GATEWAY_URL: 'http://127.0.0.1:1' })).toEqual(quiet);
  expect(await run(stop, { VIGIL_GATEWAY_URL: 'no address' })).toEqual(quiet);
  expect(await run(stop, { VIGIL_GATEWAY_URL: 'http://127.0.0.1:1', VIGIL_STATE_DIR: '/dev/null' })).toEqual(quiet);
  expect(await run(stop, { VIGIL_HOOK_DEBUG: '/dev/null/x' })).toEqual(quiet);
});

test('where the file system takes no folder, it is silent and ends', async () => {
  for (const VIGIL_STATE_DIR of ['/proc/nope', '/proc/nope/deeper', '/proc'])
    expect(await run(stop, { VIGIL_GATEWAY_URL: 'http://127.0.0.1:1', VIGIL_STATE_DIR })).toEqual(quiet);
});

test('folders on the way to its state are made', async () => {
  const state = join(dir, 'a', 'b');
  expect(await run(stop, { VIGIL_GATEWAY_URL: 'http://127.0.0.1:1', VIGIL_STATE_DIR: state })).toEqual(quiet);
  expect(readdirSync(join(state, 'hooks'))).toHaveLength(1);
});

test('a supervisor that says nothing is not waited for, nor is a gateway', async () => {
  const path = join(dir, 'mute.sock');
  const server = createServer((socket) => socket.on('error', () => {}));
  await new Promise<void>((resolve) => server.listen(path, resolve));
  expect(await run(stop, { VIGIL_SOCKET: path })).toEqual(quiet);
  server.close();
  await muteGateway(async (url) => expect(await run(stop, { VIGIL_GATEWAY_URL: url })).toEqual(quiet));
});

test('a supervisor that speaks nonsense is not listened to', async () => {
  const path = join(dir, 'nonsense.sock');
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.write('nonsense\n{"hook":7}\n[]\n');
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  expect(await run(stop, { VIGIL_SOCKET: path })).toEqual(quiet);
  server.close();
});

test('whatever it is given, it is silent', async () => {
  for (const input of [
    '',
    'nonsense',
    '[]',
    'null',
    '{"hook_event_name":',
    Buffer.from([0xff, 0xfe, 0]),
    '9'.repeat(1e6),
  ])
    expect(await run(input, { VIGIL_SOCKET: join(dir, 'none.sock') })).toEqual(quiet);
});

test('whoever wants to know what it does finds it in a file', async () => {
  const file = join(dir, 'debug.jsonl');
  expect(await run(stop, { VIGIL_HOOK_DEBUG: file })).toEqual(quiet);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ what: 'Stop', ms: expect.any(Number) });
});
