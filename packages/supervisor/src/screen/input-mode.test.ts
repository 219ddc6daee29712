import { afterEach, expect, test, vi } from 'vitest';
import { openTerminal, type Terminal } from '../terminal/terminal.ts';
import { deviceOf, modeIn, readInputMode } from './input-mode.ts';

let terminal: Terminal | null = null;
afterEach(() => terminal?.signal('SIGKILL'));

const open = async (script: string): Promise<Terminal> => {
  let shown = '';
  const env = { PATH: process.env.PATH ?? '' };
  const args = ['-c', `${script}; echo ready; sleep 600`];
  terminal = openTerminal(
    { command: '/bin/sh', args, cwd: '/', env, prints: 'terminal', cgroup: null, user: null },
    { columns: 80, rows: 24 },
    (data) => {
      shown += data;
    },
  );
  await vi.waitFor(() => expect(shown).toContain('ready'), { timeout: 30_000 });
  return terminal;
};

test.each([
  ['true', { canonical: true, echo: true, opost: true }],
  ['stty -echo', { canonical: true, echo: false, opost: true }],
  ['stty -echo -opost', { canonical: true, echo: false, opost: false }],
  ['stty raw -echo', { canonical: false, echo: false, opost: false }],
])('the mode of a terminal after %j is read from outside', async (script, mode) => {
  expect(await readInputMode((await open(script)).pid)).toEqual(mode);
});

test('the mode of a process without a terminal is unknown', async () => {
  expect(await readInputMode({ pid: 2 ** 22 + 1, startTime: null })).toBeNull();
  expect([deviceOf(0), deviceOf((4 << 8) | 1), deviceOf((136 << 8) | 7)]).toEqual([null, null, '/dev/pts/7']);
  expect(modeIn('speed 38400 baud; -icanon;')).toBeNull();
});
