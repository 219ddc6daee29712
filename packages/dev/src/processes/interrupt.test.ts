import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { afterEach, expect, it } from 'vitest';
import { sendSignal } from './pid-file.ts';

const url = (file: string): string => JSON.stringify(path.join(import.meta.dirname, file));

/** Prints its process id, and later the exit code of the interrupt. */
const COMMAND = `
  import { interruption } from ${url('interrupt.ts')};
  const { signal, code } = interruption(process.env);
  const timer = setInterval(() => {}, 1000);
  signal.addEventListener('abort', () => { console.log(code()); clearInterval(timer); });
  console.log(process.pid);`;
const PARENT = `
  import { handOver } from ${url('../../bootstrap/hand-over.mjs')};
  const env = { ...process.env, VIGIL_HANDED_OVER_BY: String(process.pid) };
  handOver(process.execPath, ['--input-type=module', '-e', ${JSON.stringify(COMMAND)}], env, 0);`;
/** Prints 0 after enough time to detect that its starter is gone. */
const OUTLIVING = `${COMMAND} setTimeout(() => console.log(0), 1200);`;

const started: number[] = [];
afterEach(() => {
  for (const pid of started.splice(0)) sendSignal(pid, 'SIGKILL');
});

const start = (script: string): ChildProcess => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  started.push(child.pid ?? 0);
  return child;
};
/** The output of a process, and of processes that share its output, line by line. */
const linesOf = (child: ChildProcess): AsyncIterator<string> =>
  createInterface({ input: child.stdout as Readable })[Symbol.asyncIterator]();
const next = async (lines: AsyncIterator<string>): Promise<number> => Number((await lines.next()).value);

it.each([
  ['SIGKILL', 143],
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('a wrapper that alone gets %s stops the command like a signal', async (signal, code) => {
  const parent = start(PARENT);
  const lines = linesOf(parent);
  started.push(await next(lines));
  parent.kill(signal);
  expect(await next(lines)).toBe(code);
});

it('a command that was started by hand outlives its starter', async () => {
  const command = [process.execPath, '--input-type=module', '-e', OUTLIVING];
  const shell = spawn('/bin/sh', ['-c', '"$@" & wait', 'sh', ...command], { stdio: ['ignore', 'pipe', 'ignore'] });
  const lines = linesOf(shell);
  const pid = await next(lines);
  started.push(pid);
  shell.kill('SIGKILL');
  await once(shell, 'exit');
  expect(await next(lines)).toBe(0);
  sendSignal(pid, 'SIGINT');
  expect(await next(lines)).toBe(130);
});
