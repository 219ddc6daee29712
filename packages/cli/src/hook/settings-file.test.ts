import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { replaceFile } from '../replace-file.ts';
import { withHooks, withoutHooks } from './settings.ts';
import { readSettings, restoreSettings } from './settings-file.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'vigil-settings-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const file = () => join(home, '.claude', 'settings.json');
const tree = () =>
  readdirSync(home, { recursive: true, withFileTypes: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name);
    return entry.isDirectory() ? `${path}/` : `${path} ${readFileSync(path, 'utf8')}`;
  });

const hook = { type: 'command', command: 'vigil hook --client claude-code', timeout: 5 };
const install = () =>
  replaceFile(
    file(),
    withHooks(readSettings(file()), file(), () => hook, ['Stop', 'PreToolUse']),
  );
const uninstall = () => restoreSettings(file(), withoutHooks(readSettings(file()), file()));
const cycle = (): void => {
  const before = tree();
  install();
  expect(tree()).not.toEqual(before);
  uninstall();
  expect(tree()).toEqual(before);
};

test('after install and uninstall a folder that did not exist before does not exist', () => cycle());

test.each(['{}\n', '{}', '', '\n', '{"model":"opus"}', '{"hooks":{}}'])(
  'after install and uninstall a file with %j is as it was, to the byte',
  (text) => {
    mkdirSync(dirname(file()));
    cycle();
    writeFileSync(file(), text);
    cycle();
  },
);

test('a folder in which something else has been put since stays', () => {
  install();
  writeFileSync(join(dirname(file()), 'notes.md'), 'mine');
  uninstall();
  expect(readdirSync(dirname(file()))).toEqual(['notes.md']);
});

test('an empty file that is a link stays one, and empty', () => {
  mkdirSync(dirname(file()));
  const real = join(home, 'shared.json');
  writeFileSync(real, '');
  symlinkSync(real, file());
  cycle();
  expect([lstatSync(file()).isSymbolicLink(), readFileSync(real, 'utf8')]).toEqual([true, '']);
});
