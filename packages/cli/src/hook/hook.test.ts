import { spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adapters } from '@vigil/adapters';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { vigilProgram } from '../program.fixture.ts';

let home: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'vigil-hook-')));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Files below the home folder and their texts; folders end with a slash. */
const tree = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(home, { recursive: true, withFileTypes: true }).map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return entry.isDirectory() ? [`${path}/`, ''] : [path, readFileSync(path, 'utf8')];
    }),
  );

const run = (words: readonly string[], env: Record<string, string> = {}) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [vigilProgram, 'hook', ...words], {
    cwd: home,
    env: { PATH: '/nothing', HOME: home, ...env },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
};
/** For Claude Code. */
const vigil = (...words: string[]) => run(words[0] === 'install' ? [...words, '--client', 'claude-code'] : words);
const file = () => join(home, '.claude', 'settings.json');

test.each(adapters)(
  'for $name: installed for all its events, runs in a shell silently, and uninstalled to the byte',
  ({ name, install, hooks: { events } }) => {
    const before = tree();
    expect(run(['install', '--client', name])).toMatchObject({ status: 0, stderr: '' });
    const { project } = install.files({ cwd: home, home, env: {} });
    const { hooks } = JSON.parse(readFileSync(project, 'utf8'));
    expect(Object.keys(hooks)).toEqual(events);
    const [entry] = hooks[events[0] ?? ''][0].hooks;
    expect(entry).toEqual(install.command(entry.command, events[0] ?? ''));
    expect(entry).toMatchObject({ type: 'command', timeout: expect.any(Number) });
    expect(entry.command).toContain(`hook --client ${name}`);
    const ran = spawnSync('/bin/sh', ['-c', entry.command], {
      input: '{"hook_event_name":"Stop","session_id":"s"}',
      encoding: 'utf8',
      env: { PATH: process.env.PATH ?? '', HOME: home },
    });
    expect(ran).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect(run(['status'])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining(`installed for ${events.length}`),
    });
    const again = run(['install', '--client', name]).stdout;
    expect(again).toContain('as it should be already');
    expect(again).not.toContain('moved');
    expect(run(['install', '--uninstall'])).toMatchObject({ status: 0 });
    expect(tree()).toEqual(before);
  },
);

test('Codex asks a person to trust the hook: the output explains that, and no setting bypasses it', () => {
  const { stdout } = run(['install', '--client', 'codex']);
  expect(stdout).toContain('trust it where codex asks, or later under /hooks');
  expect(Object.keys(JSON.parse(readFileSync(join(home, '.codex', 'hooks.json'), 'utf8')))).toEqual(['hooks']);
  expect(existsSync(join(home, '.codex', 'config.toml'))).toBe(false);
});

test('without a name it is installed for the clients that are found: a program on the PATH or a folder of settings', () => {
  expect(run(['install'])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining(`none of ${adapters.map(({ install }) => install.binary).join(', ')}`),
  });
  mkdirSync(join(home, 'bin'));
  writeFileSync(join(home, 'bin', 'codex'), '#!/bin/sh\n', { mode: 0o755 });
  mkdirSync(join(home, '.gemini'));
  const { stdout } = run(['install', '--user'], { PATH: join(home, 'bin') });
  expect(stdout).toContain('Codex: the hook is set');
  expect(stdout.match(/is moved or deleted, the hooks do nothing/g)).toHaveLength(1);
  expect(stdout).toContain('Gemini CLI: the hook is set');
  expect(stdout).not.toContain('Claude Code');
});

test('a client that is not known is refused with those that are', () => {
  expect(run(['install', '--client', 'aider'])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining(`there are ${adapters.map(({ name }) => name).join(', ')}`),
  });
});

test('hooks that post to a gateway are written for Claude Code, authorized by a variable, and uninstalled to the byte', () => {
  const before = tree();
  expect(run(['install', '--http', 'http://127.0.0.1:7600/'])).toMatchObject({ status: 0 });
  const { hooks } = JSON.parse(readFileSync(file(), 'utf8'));
  expect(hooks.Stop[0].hooks).toEqual([
    {
      type: 'http',
      url: 'http://127.0.0.1:7600/v1/hooks/claude-code',
      timeout: 2,
      headers: {
        authorization: 'Bearer $VIGIL_GATEWAY_TOKEN',
        'vigil-agent': '$VIGIL_AGENT',
        'vigil-task': '$VIGIL_TASK_ID',
      },
      allowedEnvVars: ['VIGIL_GATEWAY_TOKEN', 'VIGIL_AGENT', 'VIGIL_TASK_ID'],
    },
  ]);
  expect(run(['status'])).toMatchObject({ status: 0 });
  run(['install', '--uninstall']);
  expect(tree()).toEqual(before);
  expect(run(['install', '--http', 'nowhere']).stderr).toContain('is not an address');
  expect(run(['install', '--client', 'codex', '--http', 'http://127.0.0.1:7600']).stderr).toContain(
    'Codex has no hooks that post',
  );
});

test('the changes are printed, and nothing is written', () => {
  const before = tree();
  const { stdout } = vigil('install', '--user', '--print');
  expect(Object.keys(JSON.parse(stdout).hooks)).toContain('PreToolUse');
  expect(tree()).toEqual(before);
});

test('a link stays a link; an unreadable file stays unchanged, with the reason', () => {
  mkdirSync(join(home, '.claude'));
  const real = join(home, 'dotfiles.json');
  writeFileSync(real, '{"hooks":', { mode: 0o600 });
  symlinkSync(real, file());
  expect(vigil('install')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('is not changed: it cannot be read as JSON'),
  });
  expect(readFileSync(real, 'utf8')).toBe('{"hooks":');
  writeFileSync(real, '{"model":"opus"}');
  expect(vigil('install')).toMatchObject({ status: 0 });
  expect(lstatSync(file()).isSymbolicLink()).toBe(true);
  expect(JSON.parse(readFileSync(real, 'utf8')).model).toBe('opus');
  expect(lstatSync(real).mode & 0o777).toBe(0o600);
});

test('a link to a file that does not exist stays, and the file is named', () => {
  mkdirSync(join(home, '.claude'));
  symlinkSync(join(home, 'dotfiles.json'), file());
  expect(vigil('install')).toMatchObject({ status: 1, stderr: expect.stringContaining('dotfiles.json') });
  expect(lstatSync(file()).isSymbolicLink()).toBe(true);
});

test('for programs an installation and the status are JSON, with the same exit codes', () => {
  const installed = vigil('install', '--json');
  expect(JSON.parse(installed.stdout)).toEqual([{ client: 'claude-code', file: file(), outcome: 'written' }]);
  expect(JSON.parse(vigil('install', '--json').stdout)).toMatchObject([{ outcome: 'unchanged' }]);
  const { status, stdout } = vigil('status', '--json');
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toContainEqual(
    expect.objectContaining({ client: 'claude-code', scope: 'project', file: file(), isWhole: true }),
  );
  expect(JSON.parse(vigil('install', '--json', '--uninstall').stdout)).toMatchObject([{ outcome: 'removed' }]);
  expect(vigil('status', '--json').status).toBe(1);
  expect(vigil('install', '--json', '--print').status).toBe(1);
});
