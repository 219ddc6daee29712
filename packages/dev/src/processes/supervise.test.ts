import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startOf } from './pid-file.ts';
import { type ProcessEvent, restartDelay, type Supervised, supervise } from './supervise.ts';

let dir: string;
let running: Supervised | undefined;
let events: ProcessEvent[];
beforeEach(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'vigil-supervise-'));
  events = [];
});
afterEach(async () => {
  vi.restoreAllMocks();
  await running?.stop();
  rmSync(dir, { recursive: true });
});

const run = (script: string): Supervised => {
  const node = { command: process.execPath, args: ['-e', script], cwd: dir, env: process.env };
  running = supervise({ name: 'it', dir, ...node }, (event) => events.push(event));
  return running;
};
const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await sleep(10);
};
const RUNS_UNTIL_STOPPED = 'console.log("up"); setInterval(() => {}, 1000)';

it('the wait before a restart doubles from half a second to five', () => {
  const waits = [null, 500, 1000, 2000, 4000, 5000].map((last) => restartDelay(last, 100));
  expect(waits).toEqual([500, 1000, 2000, 4000, 5000, 5000]);
});

it('a run of thirty seconds resets the waits, a shorter one does not', () => {
  expect(restartDelay(5000, 30_000)).toBe(500);
  expect(restartDelay(4000, 29_999)).toBe(5000);
});

it('a killed process is started again as a new process', async () => {
  const supervised = run(RUNS_UNTIL_STOPPED);
  const first = supervised.pid();
  supervised.kill('SIGKILL');
  await until(() => supervised.restarts() === 1);
  expect(supervised.pid()).not.toBe(first);
  expect(events.map(({ kind }) => kind)).toEqual(['started', 'ended', 'started']);
  expect(events[1]).toEqual({ kind: 'ended', how: 'SIGKILL', restartInMs: 500 });
});

it('a process that refuses with code 2 is reported with its words alone and not started again', async () => {
  const words = ['KAFKA_BROKERS is not set', ...Array.from({ length: 20 }, (_, i) => `  SECRET_${i} is not set`)];
  const logged = 'console.log(JSON.stringify({ level: 30, msg: "stopping" }));';
  const supervised = run(`${logged} console.error(${JSON.stringify(words.join('\n'))}); process.exitCode = 2`);
  await until(() => supervised.isRefused());
  expect(events.at(-1)).toEqual({ kind: 'refused', lastError: words.join('\n'), again: false });
  expect(supervised.restarts()).toBe(0);
  expect(supervised.pid()).toBeNull();
});

it('a process that has served for thirty seconds is started again after it refuses: a file may be corrected', async () => {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const refuses = path.join(dir, 'refuses');
  const supervised = run(
    `if (fs.existsSync(${JSON.stringify(refuses)})) { console.error('a mistake'); process.exit(2); } console.log('up'); setInterval(() => {}, 1000)`,
  );
  now = 30_000;
  writeFileSync(refuses, '');
  supervised.kill('SIGKILL');
  await until(() => events.some((event) => event.kind === 'ended' && event.how === '2'));
  rmSync(refuses);
  await until(() => events.at(-1)?.kind === 'started');
  const refusals = events.filter(({ kind }) => kind === 'refused');
  expect(refusals).toEqual([{ kind: 'refused', lastError: 'a mistake', again: true }]);
  expect(supervised.isRefused()).toBe(true);
});

it('a process that waits for its next start is not started once a stop is requested', async () => {
  const supervised = run('process.exitCode = 1');
  await until(() => events.some(({ kind }) => kind === 'ended'));
  supervised.endRestarts();
  await sleep(700); // longer than the wait before the start
  expect(supervised.restarts()).toBe(0);
});

it('a stopped process ends and is not started again, frozen or not', async () => {
  const supervised = run(RUNS_UNTIL_STOPPED);
  const pid = supervised.pid() ?? 0;
  supervised.freeze();
  await supervised.stop();
  expect(startOf(pid)).toBeNull();
  expect(events.map(({ kind }) => kind)).toEqual(['started']);
});

it('the output of every run is in the log', async () => {
  const supervised = run(RUNS_UNTIL_STOPPED);
  const ups = (): number => readFileSync(path.join(dir, 'logs/it.log'), 'utf8').split('up').length - 1;
  await until(() => ups() === 1);
  supervised.kill('SIGKILL');
  await until(() => ups() === 2);
});
