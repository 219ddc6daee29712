import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readSpool, spoolFile } from './spool/spool.ts';

const vigil = fileURLToPath(new URL('../../dev/bootstrap/vigil.mjs', import.meta.url));
const quiet = { code: 0, stdout: '', stderr: '' };
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'vigil-hook-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

type Run = { readonly code: number | null; readonly stdout: string; readonly stderr: string };
const run = (input: string | Buffer, env: Record<string, string> = {}, client = 'claude-code'): Promise<Run> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [vigil, 'hook', '--client', client], {
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
const stop = JSON.stringify({ session_id: 's-1', hook_event_name: 'Stop' });
const ended = (id: string) =>
  JSON.stringify({
    session_id: 's-1',
    hook_event_name: 'PostToolUse',
    tool_name: 'Bash',
    tool_use_id: id,
    tool_input: { command: 'ls' },
    tool_response: { stdout: 'secret' },
  });
const spooled = () =>
  readSpool(join(dir, spoolFile('claude-code', 's-1')), 0, false).entries.map(({ record }) => record);

test('with nothing there, each client is silent, and one that is not known too', async () => {
  for (const client of ['claude-code', 'codex', 'gemini-cli', 'unknown', '__proto__'])
    expect(await run(stop, {}, client)).toEqual(quiet);
});

test('the facts of an event are on the disk before the supervisor is asked, without its content', async () => {
  const env = { VIGIL_SOCKET: join(dir, 'none.sock'), VIGIL_SPOOL: dir };
  expect(await run(ended('c-1'), env)).toEqual(quiet);
  expect(spooled()).toMatchObject([
    { client: 'claude-code', session: 's-1', events: [{ call: { call_id: 'c-1', outcome: 'ok' } }] },
  ]);
  expect(JSON.stringify(spooled())).not.toContain('secret');
});

/** As a client does that gives up on its hook: as soon as the record is on the disk. */
const killedWhenSpooled = (id: string, env: Record<string, string>): Promise<void> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [vigil, 'hook', '--client', 'claude-code'], {
      env: { PATH: process.env.PATH ?? '', ...env },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    child.stdin?.end(ended(id));
    const look = setInterval(() => {
      if (spooled().some(({ events }) => JSON.stringify(events).includes(id))) child.kill('SIGKILL');
    }, 2);
    child.on('close', () => {
      clearInterval(look);
      resolve();
    });
  });

test('of hooks that run beside each other, every second one killed after its append, no event is lost', async () => {
  const path = join(dir, 'mute.sock');
  const server = createServer((socket) => socket.on('error', () => {}));
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const env = { VIGIL_SOCKET: path, VIGIL_SPOOL: dir };
  const ids = Array.from({ length: 8 }, (_, n) => `call-${n}`);
  await Promise.all(ids.map((id, n) => (n % 2 === 0 ? run(ended(id), env) : killedWhenSpooled(id, env))));
  server.close();
  const found = spooled().flatMap(({ events }) =>
    events.map((event) => (event.kind === 'call_ended' ? event.call.call_id : '')),
  );
  expect(found.sort()).toEqual(ids);
});

test('with everything down, it is silent', async () => {
  expect(await run(stop, { VIGIL_SOCKET: join(dir, 'none.sock'), VIGIL_SPOOL: dir })).toEqual(quiet);
  expect(await run(stop, { VIGIL_SOCKET: dir, VIGIL_SPOOL: '/proc/nope' })).toEqual(quiet);
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

test('a supervisor that does not answer is not awaited, and neither is a gateway', async () => {
  const path = join(dir, 'mute.sock');
  const server = createServer((socket) => socket.on('error', () => {}));
  await new Promise<void>((resolve) => server.listen(path, resolve));
  expect(await run(stop, { VIGIL_SOCKET: path, VIGIL_SPOOL: dir })).toEqual(quiet);
  server.close();
  await muteGateway(async (url) => expect(await run(stop, { VIGIL_GATEWAY_URL: url })).toEqual(quiet));
});

test('invalid lines of a supervisor are ignored', async () => {
  const path = join(dir, 'nonsense.sock');
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.write('nonsense\n{"hook":7}\n[]\n');
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  expect(await run(stop, { VIGIL_SOCKET: path, VIGIL_SPOOL: dir })).toEqual(quiet);
  server.close();
});

test('it is silent on input that is not a hook event', async () => {
  for (const input of [
    '',
    'nonsense',
    '[]',
    'null',
    '{"hook_event_name":',
    Buffer.from([0xff, 0xfe, 0]),
    '9'.repeat(1e6),
  ])
    expect(await run(input, { VIGIL_SOCKET: join(dir, 'none.sock'), VIGIL_SPOOL: dir })).toEqual(quiet);
});

test('a debug file shows what the hook does', async () => {
  const file = join(dir, 'debug.jsonl');
  expect(await run(stop, { VIGIL_HOOK_DEBUG: file, VIGIL_SOCKET: join(dir, 'none.sock'), VIGIL_SPOOL: dir })).toEqual(
    quiet,
  );
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ what: 'turn_ended', ms: expect.any(Number) });
});
