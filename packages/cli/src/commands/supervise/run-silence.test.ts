import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { vigilProgram } from '../../program.fixture.ts';
import { silenceNotice } from './run-spec.ts';

let home = '';
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'vigil-silence-')));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const vigil = (...words: readonly string[]) =>
  spawnSync(process.execPath, [vigilProgram, ...words], {
    cwd: home,
    env: { PATH: process.env.PATH ?? '', HOME: home },
    encoding: 'utf8',
  });
const notice = (text: string) => {
  const [command = '', ...args] = text.split(' ');
  return silenceNotice({ command, args }, { cwd: join(home, 'project'), home: home, env: {} });
};

test.each([
  ['claude -p task', 'claude-code', '--output-format stream-json --verbose'],
  ['gemini -p task', 'gemini-cli', '--output-format stream-json'],
])('%s shows nothing while it works: the line names the hook and the options', (text, client, options) => {
  expect(notice(text)).toContain(`vigil hook install --client ${client}`);
  expect(notice(text)).toContain(options);
  expect(notice(text)).not.toContain('\n');
});

test.each(['claude', 'claude -p --output-format stream-json --verbose task', 'codex exec task', './agent.sh -p'])(
  '%s shows its activity, or is not a client: no line is written',
  (text) => expect(notice(text)).toBeNull(),
);

test.each([['--user'], ['--project']])('with a hook that is installed with %s no line is written', (scope) => {
  const other = scope === '--user' ? 'elsewhere' : home;
  expect(vigil('hook', 'install', '--client', 'claude-code', scope).status).toBe(0);
  const place = { cwd: other, home: scope === '--user' ? home : join(home, 'missing'), env: {} };
  expect(silenceNotice({ command: 'claude', args: ['-p', 'task'] }, place)).toBeNull();
  expect(silenceNotice({ command: 'gemini', args: ['-p', 'task'] }, place)).not.toBeNull();
});

test('settings that cannot be read have no hook', () => {
  mkdirSync(join(home, '.claude'));
  writeFileSync(join(home, '.claude', 'settings.json'), '{"hooks":');
  expect(notice('claude -p task')).not.toBeNull();
});

test('vigil run writes the line once to standard error, before the agent prints', () => {
  const claude = join(home, 'claude');
  symlinkSync('/bin/sh', claude);
  const words = ['--dir', join(home, 'state'), '--gateway', 'http://127.0.0.1:9', '--name', 'worker-1', '--no-tty'];
  const { status, stderr, stdout } = vigil('run', ...words, '--', claude, '-c', 'echo answer', '-p');
  expect(status).toBe(0);
  expect(stdout).toContain('answer');
  const lines = stderr.split('\n').filter((text) => text.includes('prints nothing while it works'));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^vigil: Claude Code prints nothing while it works/);
});
