import { adapters } from '@vigil/adapters';
import { expect, test } from 'vitest';
import { ProcessesUnknown } from '../errors.ts';
import type { Pid } from '../process/proc.ts';
import { ClientProcess, type RunningProgram } from './session-poll.ts';

const pidOf = (pid: number): Pid => ({ pid, startTime: `${pid}` });
const shell: RunningProgram = { pid: pidOf(1), words: ['/bin/sh', 'wrapper.sh'] };
const claude = (pid: number): RunningProgram => ({ pid: pidOf(pid), words: ['node', '/usr/bin/claude', '--continue'] });

let table: readonly RunningProgram[] | null;
const look = () => {
  if (table === null) throw new ProcessesUnknown('EMFILE');
  return table;
};
const running = {
  programs: look,
  isAlive: ({ pid }: Pid) => look().some((one) => one.pid.pid === pid),
};
const watched = () => new ClientProcess(adapters, running);

test('a client whose process was seen and runs no more is gone, once', () => {
  const process = watched();
  table = [shell, claude(2)];
  expect(process.isGone('claude-code')).toBe(false);
  table = [shell];
  expect(process.isGone('claude-code')).toBe(true);
  expect(process.isGone('claude-code')).toBe(false);
});

test('a client whose process was never seen is not gone: it may run where its processes cannot be seen', () => {
  const process = watched();
  table = [shell];
  expect(process.isGone('claude-code')).toBe(false);
  table = [shell, claude(2)];
  expect(process.isGone('codex')).toBe(false);
  table = [shell];
  expect(process.isGone('codex')).toBe(false);
});

test('a client is not gone while another process of it runs there, or while the processes cannot be looked at', () => {
  const process = watched();
  table = [shell, claude(2)];
  process.isGone('claude-code');
  table = null;
  expect(process.isGone('claude-code')).toBe(false);
  table = [shell, claude(3)];
  expect(process.isGone('claude-code')).toBe(false);
  table = [shell];
  expect(process.isGone('claude-code')).toBe(true);
});
