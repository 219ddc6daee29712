import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { appendTo, makeBelow, writeIfMissing } from './folder-below.ts';

let dir = '';
const root = () => join(dir, 'work');
const outside = () => join(dir, 'outside');
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'vigil-test-'));
  for (const folder of [root(), outside()]) mkdirSync(folder);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('a folder is made below the root, and a root that is missing with it', () => {
  makeBelow(root(), join(root(), 'state/TASK-1'));
  makeBelow(join(dir, 'new'), join(dir, 'new/TASK-1'));
  expect([existsSync(join(root(), 'state/TASK-1')), existsSync(join(dir, 'new/TASK-1'))]).toEqual([true, true]);
});

test('a link inside the root may lead to another folder there', () => {
  mkdirSync(join(root(), 'real'));
  symlinkSync(join(root(), 'real'), join(root(), 'state'));
  makeBelow(root(), join(root(), 'state/TASK-1'));
  expect(readdirSync(join(root(), 'real'))).toEqual(['TASK-1']);
});

test.each([
  ['the folder', 'state', 'state'],
  ['a folder above it', 'state', 'state/deep/TASK-1'],
  ['the task’s folder', 'state/TASK-1', 'state/TASK-1'],
])(
  'a link in the place of %s that leads out of the root is refused, and nothing is made behind it',
  (_, link, folder) => {
    mkdirSync(join(root(), link, '..'), { recursive: true });
    symlinkSync(outside(), join(root(), link));
    expect(() => makeBelow(root(), join(root(), folder))).toThrow(/is a link that leads out of .*: remove the link/);
    expect(readdirSync(outside())).toEqual([]);
  },
);

test('a link to a sibling whose name begins like the root leads out of it', () => {
  mkdirSync(join(dir, 'work-2'));
  symlinkSync(join(dir, 'work-2'), join(root(), 'state'));
  expect(() => makeBelow(root(), join(root(), 'state'))).toThrow(/leads out/);
});

test('a root that is a link itself is where its owner put it', () => {
  symlinkSync(outside(), join(dir, 'linked'));
  makeBelow(join(dir, 'linked'), join(dir, 'linked/TASK-1'));
  expect(readdirSync(outside())).toEqual(['TASK-1']);
});

test('no line is added through a link, and no file is written through one', () => {
  const victim = join(outside(), 'victim');
  writeFileSync(victim, 'as it was');
  const link = join(root(), 'day.ndjson');
  symlinkSync(victim, link);
  expect(() => appendTo(link, 'a line\n')).toThrow(/ELOOP/);
  writeIfMissing(link, 'other');
  symlinkSync(join(outside(), 'new'), join(root(), 'dangling'));
  writeIfMissing(join(root(), 'dangling'), 'other');
  expect([readFileSync(victim, 'utf8'), readdirSync(outside())]).toEqual(['as it was', ['victim']]);
});
