import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Daemon, killDaemon, startDaemon, stopDaemon } from './daemon.ts';
import { endProcess, livingNames, livingPid, writePid } from './pid-file.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'vigil-daemon-'));
});
afterEach(async () => {
  for (const name of livingNames(dir)) await endProcess(dir, name, 'SIGKILL');
  rmSync(dir, { recursive: true });
});

const daemon = (script: string): Daemon => ({
  name: 'server',
  dir,
  command: process.execPath,
  args: ['-e', script],
  cwd: dir,
  stopWith: 'SIGTERM',
  isReady: (written) => written.includes('ready'),
});
const SERVES = 'console.log("ready"); setInterval(() => {}, 1000)';

it('a server has started when it is ready, is found by its name, and is gone once stopped', async () => {
  const server = daemon(SERVES);
  await startDaemon(server);
  expect(livingPid(dir, 'server')).toBeGreaterThan(0);
  await stopDaemon(server);
  expect(livingNames(dir)).toEqual([]);
});

it('a server that ends while it starts is refused with its last output', async () => {
  await expect(startDaemon(daemon('console.error("no such port"); process.exit(1)'))).rejects.toThrow('no such port');
});

it('the output of an earlier start does not make this one ready', async () => {
  await startDaemon(daemon(SERVES));
  await killDaemon(daemon(SERVES), 'SIGKILL');
  await expect(startDaemon(daemon('console.log("other")'))).rejects.toThrow('ended while it started');
});

it('a frozen server is stopped too', async () => {
  const server = daemon(SERVES);
  await startDaemon(server);
  await killDaemon(server, 'SIGSTOP');
  await stopDaemon(server);
  expect(livingPid(dir, 'server')).toBeNull();
});

it('another process with the same name is not ended, and keeps the name', async () => {
  const server = daemon(SERVES);
  await startDaemon(server);
  const previous = livingPid(dir, 'server') ?? 0;
  const other = spawn(process.execPath, ['-e', SERVES], { stdio: 'ignore' });
  writePid(dir, 'server', other.pid ?? 0);
  await endProcess(dir, 'server', 'SIGKILL', 20_000, previous);
  expect(livingPid(dir, 'server')).toBe(other.pid);
  writePid(dir, 'server', previous);
  await stopDaemon(server);
  writePid(dir, 'server', other.pid ?? 0);
});

it('a process that has reused the pid is not ended', async () => {
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  writePid(dir, 'server', other.pid ?? 0);
  const file = path.join(dir, 'run/server.pid');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/ .*/, ' another start'));
  await endProcess(dir, 'server', 'SIGKILL');
  expect(other.exitCode).toBeNull();
  other.kill('SIGKILL');
  const [, signal] = await once(other, 'exit');
  expect(signal).toBe('SIGKILL');
});
