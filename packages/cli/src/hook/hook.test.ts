import { spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const main = fileURLToPath(new URL('../main.ts', import.meta.url));
let home: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'vigil-hook-')));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const vigil = (...words: string[]) => {
  const env = { PATH: process.env.PATH ?? '', HOME: home };
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, 'hook', ...words], {
    cwd: home,
    env,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
};
const file = () => join(home, '.claude', 'settings.json');

test('what is installed runs in a shell, prints nothing, and is taken out again', () => {
  expect(vigil('status')).toMatchObject({ status: 1, stdout: expect.stringContaining('project  not installed') });
  expect(vigil('install')).toMatchObject({ status: 0, stdout: expect.stringContaining('set for 11 events') });
  expect(vigil('status')).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('project  installed for 11 events'),
  });
  const { hooks } = JSON.parse(readFileSync(file(), 'utf8'));
  const ran = spawnSync('/bin/sh', ['-c', hooks.Stop[0].hooks[0].command], {
    input: '{"hook_event_name":"Stop"}',
    encoding: 'utf8',
  });
  expect(ran).toMatchObject({ status: 0, stdout: '', stderr: '' });
  expect(vigil('install')).toMatchObject({ status: 0, stdout: expect.stringContaining('as it should be already') });
  expect(vigil('install', '--uninstall')).toMatchObject({ status: 0 });
  expect(existsSync(join(home, '.claude'))).toBe(false);
});

test('taken out, it leaves a file that says more, the folder that holds more, and an empty file that is a link', () => {
  mkdirSync(join(home, '.claude'));
  writeFileSync(file(), '{"model":"opus"}');
  vigil('install');
  vigil('install', '--uninstall');
  expect(readFileSync(file(), 'utf8')).toBe('{"model":"opus"}');
  const real = join(home, '.claude', 'shared.json');
  writeFileSync(real, '');
  rmSync(file());
  symlinkSync(real, file());
  vigil('install');
  vigil('install', '--uninstall');
  expect(readFileSync(file(), 'utf8')).toBe('{}\n');
  rmSync(file());
  vigil('install');
  vigil('install', '--uninstall');
  expect([existsSync(file()), existsSync(real)]).toEqual([false, true]);
});

test('what would be written is printed, and nothing is', () => {
  const { stdout } = vigil('install', '--user', '--print');
  expect(Object.keys(JSON.parse(stdout).hooks)).toHaveLength(11);
  expect(() => lstatSync(file())).toThrow('ENOENT');
});

test('a link stays a link; a file that cannot be read stays as it is, with the reason', () => {
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
