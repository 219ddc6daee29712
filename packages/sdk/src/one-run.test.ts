import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const dir = mkdtempSync(join(tmpdir(), 'vigil-one-run-'));
const path = join(dir, 'a.sock');
const clients = new Set<Socket>();
/** Accepts everything, and never answers. */
const mute = (): Server => createServer((client) => void clients.add(client.on('error', () => {})));
const servers = [mute(), mute()] as const;
let url = '';

beforeAll(async () => {
  await Promise.all([once(servers[0].listen(0, '127.0.0.1'), 'listening'), once(servers[1].listen(path), 'listening')]);
  url = `http://127.0.0.1:${(servers[0].address() as AddressInfo).port}`;
});
afterAll(() => {
  for (const client of clients) client.destroy();
  for (const server of servers) server.close();
  rmSync(dir, { recursive: true });
});

const lived = (
  ...args: string[]
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> =>
  new Promise((resolve) => {
    const file = join(import.meta.dirname, 'silent-agent.fixture.ts');
    execFile(process.execPath, [file, ...args], (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
    );
  });

const done = { code: 0, stdout: 'done', stderr: '' };

test.each(['', 'close'])(
  'a process ends when its work is done, with a gateway that never answers (%j)',
  async (close) => {
    expect(await lived('gateway', url, close)).toEqual(done);
  },
);

test.each(['', 'close'])('and with no server at the address (%j)', async (close) => {
  expect(await lived('gateway', 'http://127.0.0.1:9', close)).toEqual(done);
});

test.each(['', 'close'])('and with a supervisor that sends nothing, or is not there (%j)', async (close) => {
  expect(await lived('socket', path, close)).toEqual(done);
  expect(await lived('socket', join(dir, 'absent.sock'), close)).toEqual(done);
});
