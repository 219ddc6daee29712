import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { isAlive } from '../process/proc.ts';
import { openTerminal } from './terminal.ts';

test('what a command printed last is read where its output was paused beyond its end', async () => {
  const pieces: Buffer[] = [];
  const terminal = openTerminal(
    {
      command: '/bin/sh',
      args: ['-c', 'printf begun; read line; printf "%2000s" last; exit 3'],
      cwd: tmpdir(),
      env: { PATH: process.env.PATH ?? '' },
      prints: 'raw',
      cgroup: null,
      user: null,
    },
    { columns: 80, rows: 24 },
    (data) => void pieces.push(data),
  );
  const text = () => Buffer.concat(pieces).toString();
  await vi.waitFor(() => expect(text()).toContain('begun'), { timeout: 60_000, interval: 20 });
  terminal.pause();
  terminal.write('on\r');
  await vi.waitFor(() => expect(isAlive(terminal.pid)).toBe(false), { timeout: 60_000, interval: 20 });
  // node-pty gives up 200 ms after the exit.
  await sleep(500);
  terminal.resume();
  expect(await terminal.exited).toEqual({ code: 3, signal: null });
  expect(text()).toHaveLength('begun'.length + 2000);
});
