import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { endProcess, fileOf, livingNames, livingPid, sendSignal, startOf, writePid } from './pid-file.ts';

let dir: string;
let runners: ChildProcess[];
beforeEach(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'vigil survivors '));
  runners = [];
});
afterEach(async () => {
  for (const runner of runners.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)) {
    runner.kill('SIGKILL');
    await once(runner, 'exit');
  }
  await Promise.all(livingNames(dir).map((name) => endProcess(dir, name, 'SIGKILL')));
  rmSync(dir, { recursive: true });
});

const RUNS_UNTIL_STOPPED = 'setInterval(() => {}, 1000)';
const from = (file: string): string => JSON.stringify(path.join(import.meta.dirname, file));

/** A runner that keeps a child with that name running, and ends by `end` once its input ends. */
const startRunner = (name = 'worker', end = ''): ChildProcess => {
  const spec = { name, dir, command: process.execPath, args: ['-e', RUNS_UNTIL_STOPPED], cwd: dir };
  const script = `
    import { supervise } from ${from('supervise.ts')};
    supervise({ ...${JSON.stringify(spec)}, env: process.env }, () => {});
    process.stdin.resume().on('end', () => { ${end} });
    setInterval(() => {}, 1000);`;
  const runner = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  runners.push(runner);
  return runner;
};

const until = (what: () => void): Promise<void> => vi.waitFor(what, { timeout: 60_000, interval: 20 });
const started = (name = 'worker'): Promise<number> =>
  vi.waitFor(
    () => {
      const pid = livingPid(dir, name);
      expect(pid).not.toBeNull();
      return pid ?? 0;
    },
    { timeout: 60_000, interval: 20 },
  );
const gone = (pid: number): Promise<void> => until(() => expect(startOf(pid)).toBeNull());

it.each(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  'the children of a process that is ended by %s end too',
  async (signal) => {
    const runner = startRunner();
    const child = await started();
    runner.kill(signal);
    await gone(child);
  },
);

it('the children of a runner that fails, or exits at once, end too', async () => {
  for (const end of ['throw new Error("failed")', 'process.exit()']) {
    const runner = startRunner('worker', end);
    const child = await started();
    runner.stdin?.end();
    await gone(child);
  }
});

it('every process with that name ends too, also a frozen one and one that another process restarted', async () => {
  const runner = startRunner();
  await started();
  runner.kill('SIGSTOP');
  await endProcess(dir, 'worker', 'SIGKILL');
  const { pid = 0 } = spawn(process.execPath, ['-e', RUNS_UNTIL_STOPPED], { stdio: 'ignore' });
  writePid(dir, 'worker', pid);
  sendSignal(pid, 'SIGSTOP');
  runner.kill('SIGKILL');
  await gone(pid);
});

it('a process that another user runs in the same folder keeps running', async () => {
  const first = startRunner();
  startRunner('other');
  const child = await started();
  const other = await started('other');
  first.kill('SIGKILL');
  await gone(child);
  expect(startOf(other)).not.toBeNull();
});

it('a process that the next run has started under the same name keeps running, and the one that is left ends', async () => {
  const startAs = (name: string): number => {
    const { pid = 0 } = spawn(process.execPath, ['-e', RUNS_UNTIL_STOPPED], { stdio: 'ignore' });
    writePid(dir, name, pid);
    return pid;
  };
  const seen = (name: string): string => `${fileOf(dir, name)}\n${readFileSync(fileOf(dir, name), 'utf8')}\n`;
  const left = startAs('left');
  const first = startAs('worker');
  const seenAtEnd = seen('left') + seen('worker');
  await endProcess(dir, 'worker', 'SIGKILL');
  const next = startAs('worker');
  const ending = spawn(process.execPath, [path.join(import.meta.dirname, 'survivors.ts')], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  ending.stdin?.end(seenAtEnd);
  await once(ending, 'exit');
  expect([startOf(left), startOf(first)]).toEqual([null, null]);
  expect(startOf(next)).not.toBeNull();
});
