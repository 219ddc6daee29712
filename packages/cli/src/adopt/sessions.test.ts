import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { runningSessions } from './sessions.ts';

const proc = mkdtempSync(join(tmpdir(), 'vigil-proc-'));
afterEach(() => rmSync(proc, { recursive: true, force: true }));

const BOOT_S = 1_795_305_600;

const runs = (pid: number, words: readonly string[], { parent = 1, env = '', ticks = 0 } = {}): void => {
  const dir = join(proc, String(pid));
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(proc, 'stat'), `cpu 1 2 3\nbtime ${BOOT_S}\nprocesses 9\n`);
  writeFileSync(join(dir, 'cmdline'), words.map((word) => `${word}\0`).join(''));
  writeFileSync(join(dir, 'environ'), `HOME=/home/dev\0${env}`);
  // Fields 3 to 22 of proc(5): the state first, the parent second, the start last.
  writeFileSync(join(dir, 'stat'), `${pid} (a b) S ${parent} ${'1 '.repeat(17)}${ticks} 0 0`);
  symlinkSync('/home/dev/project', join(dir, 'cwd'));
};

test('running clients are found by their command lines, once each, with their start and environment', () => {
  runs(10, ['claude', '-p', 'do it'], { ticks: 12_345 });
  runs(11, ['node', '/usr/lib/node_modules/@openai/codex/bin/codex', 'exec', 'do it'], { env: 'VIGIL_SOCKET=/s=1\0' });
  runs(12, ['claude', '--child'], { parent: 10 });
  runs(13, ['vim', 'claude.md']);
  expect(runningSessions(proc)).toMatchObject([
    {
      ...{ pid: 10, cwd: '/home/dev/project', startedAt: BOOT_S * 1000 + 123_450, env: { HOME: '/home/dev' } },
      ...{ adapter: { name: 'claude-code' }, invocation: { headless: true } },
    },
    { pid: 11, adapter: { name: 'codex' }, env: { VIGIL_SOCKET: '/s=1' } },
  ]);
});

test('where no process table is, it is unknown which sessions run', () => {
  expect(runningSessions(join(proc, 'none'))).toBeNull();
});
