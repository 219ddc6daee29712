import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { vigilProgram } from '../../program.fixture.ts';

const until = <T>(look: () => T) => vi.waitFor(look, { timeout: 60_000, interval: 50 });

type Heartbeat = { readonly work: { readonly id: string; readonly claim_refreshed_at: number | null } | null };

let dir = '';
let server: Server;
let heartbeats: Heartbeat[] = [];
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'vigil-cli-'));
  heartbeats = [];
  server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    if (request.url === '/v1/heartbeats') heartbeats.push(JSON.parse(Buffer.concat(parts).toString()));
    response.writeHead(202).end(JSON.stringify({ orders: [], warnings: [], successor: null }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  server.close();
  server.closeAllConnections();
  rmSync(dir, { recursive: true, force: true, maxRetries: 20 });
});

const ITEMS = JSON.stringify([{ id: 'bd-1', status: 'in_progress', claim_refreshed_at: 1_770_000_000_000 }]);
const SOURCE = "echo '[]' | cat - items.json | tail -n 1";

const start = (args: readonly string[]) => {
  const child = spawn(process.execPath, [vigilProgram, 'run', '--name', 'worker-1', ...args], {
    cwd: dir,
    env: {
      PATH: process.env.PATH ?? '',
      USER: 'ada',
      TMPDIR: dir,
      VIGIL_STATE_DIR: dir,
      VIGIL_GATEWAY_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data) => {
      printed += data;
    });
  return once(child, 'close').then(([code]) => ({ code: code as number, printed }));
};
const untilStopped = ['--interval', '1s', '--', '/bin/sh', '-c', 'while [ ! -e stop ]; do sleep 0.05; done'];

test.each([
  ['--work-source, a line for the shell', ['--work-source', SOURCE]],
  ['the work source of --runtime-config', ['--runtime-config', 'runtime.yaml']],
])('heartbeats have the work item of the task, by %s', async (_, options) => {
  writeFileSync(join(dir, 'items.json'), ITEMS);
  writeFileSync(join(dir, 'runtime.yaml'), `runtime: here\nwork_source: { command: [cat, items.json] }\n`);
  const ended = start(['--task', 'bd-1', ...options, ...untilStopped]);
  await until(() =>
    expect(heartbeats.at(-1)?.work).toMatchObject({ id: 'bd-1', claim_refreshed_at: 1_770_000_000_000 }),
  );
  writeFileSync(join(dir, 'stop'), '');
  expect((await ended).code).toBe(0);
});

test('a task that the tracker does not list has no work item', async () => {
  writeFileSync(join(dir, 'items.json'), ITEMS);
  const ended = start(['--task', 'bd-2', '--work-source', SOURCE, ...untilStopped]);
  await until(() => expect(heartbeats.length).toBeGreaterThan(2));
  expect(heartbeats.every(({ work }) => work === null)).toBe(true);
  writeFileSync(join(dir, 'stop'), '');
  await ended;
});

test.each([[[]], [['--detach']]])('without a task it is refused, and nothing is started: %j', async (more) => {
  const { code, printed } = await start([...more, '--work-source', 'br list --json', '--', 'touch', 'started']);
  expect(code).toBe(2);
  expect(printed).toContain(
    'vigil run: --work-source "br list --json" needs --task ID: the work item is found by that id',
  );
});
