import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { renewingToken, type TokenSource } from './token.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let dir: string;
let file: string;
let now: number;
let asked: string[];
let problems: string[];
let answer: () => Promise<string>;

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'vigil-token-'));
  file = path.join(dir, 'token');
  now = 0;
  asked = [];
  problems = [];
  answer = async () => jwt(0, 3 * HOUR, 'renewed');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const jwt = (from: number, until: number, jti: string) =>
  `${part({ alg: 'HS256' })}.${part({ iat: from / 1000, exp: until / 1000, jti })}.signature`;
const old = jwt(0, 3 * HOUR, 'old');
const renewed = jwt(0, 3 * HOUR, 'renewed');

const opened = (source: TokenSource) =>
  renewingToken(source, {
    now: () => now,
    renew: (token) => {
      asked.push(token);
      return answer();
    },
    onProblem: (problem) => problems.push(problem),
  });
const settled = () => new Promise((resolve) => setImmediate(resolve));
const write = (token: string) => writeFileSync(file, `${token}\n`, { mode: 0o600 });

test('a token is renewed after two thirds of its time, once, and not before', async () => {
  const own = opened({ kind: 'text', token: old });
  now = 2 * HOUR - 1;
  expect(own.token).toBe(old);
  expect(asked).toEqual([]);
  now = 2 * HOUR;
  answer = async () => jwt(2 * HOUR, 5 * HOUR, 'renewed');
  expect([own.token, own.token]).toEqual([old, old]);
  await settled();
  expect(own.token).toBe(jwt(2 * HOUR, 5 * HOUR, 'renewed'));
  expect(asked).toEqual([old]);
});

test('a token without an expiry, such as the operator’s, is never renewed', () => {
  now = 1000 * HOUR;
  for (const token of ['of-the-operator', 'a.b.c', '', `x.${part({ exp: 1 })}.y`])
    expect(opened({ kind: 'text', token }).token).toBe(token);
  expect(asked).toEqual([]);
});

test('a renewed token is written to its file as a whole, for its owner alone', async () => {
  write(old);
  const own = opened({ kind: 'file', path: file });
  now = 2 * HOUR;
  answer = async () => renewed;
  expect(own.token).toBe(old);
  await settled();
  expect(own.token).toBe(renewed);
  expect(readFileSync(file, 'utf8')).toBe(`${renewed}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(dir)).toEqual(['token']);
});

test('a token that a person writes into the file is used within a second', () => {
  write('first');
  const own = opened({ kind: 'file', path: file });
  expect(own.token).toBe('first');
  write('second, of another length');
  now = 1000;
  expect(own.token).toBe('second, of another length');
});

test.each([0o604, 0o620, 0o602])('a file that others may read or change is refused: %o', (mode) => {
  write(old);
  chmodSync(file, mode);
  expect(() => opened({ kind: 'file', path: file }).token).toThrow(
    `other users may read or change the token in ${file}: chmod 600 ${file}`,
  );
});

test('a file that its group may read is used, as Kubernetes mounts a secret', () => {
  write(old);
  chmodSync(file, 0o440);
  expect(opened({ kind: 'file', path: file }).token).toBe(old);
});

test('a file that is missing or empty is refused by name', () => {
  expect(() => opened({ kind: 'file', path: file }).token).toThrow(file);
  write('');
  expect(() => opened({ kind: 'file', path: file }).token).toThrow(`the token file ${file} is empty`);
});

test('a file that cannot be read later keeps the token of before, and is reported once', () => {
  write('first');
  const own = opened({ kind: 'file', path: file });
  expect(own.token).toBe('first');
  chmodSync(file, 0o604);
  for (now = 1000; now <= 3000; now += 1000) expect(own.token).toBe('first');
  expect(problems).toEqual([expect.stringContaining('the token of before is used: other users may read')]);
  chmodSync(file, 0o600);
  writeFileSync(file, 'second, of another length');
  now = 4000;
  expect(own.token).toBe('second, of another length');
});

test('a failed renewal is reported once, repeated with back-off, and keeps the present token', async () => {
  answer = () => Promise.reject(new Error('503'));
  const own = opened({ kind: 'text', token: old });
  const attemptsAt = async (at: number) => {
    now = at;
    expect(own.token).toBe(old);
    await settled();
    return asked.length;
  };
  expect(await attemptsAt(2 * HOUR)).toBe(1);
  expect(await attemptsAt(2 * HOUR + MINUTE - 1)).toBe(1);
  expect(await attemptsAt(2 * HOUR + MINUTE)).toBe(2);
  expect(await attemptsAt(2 * HOUR + 3 * MINUTE - 1)).toBe(2);
  expect(await attemptsAt(2 * HOUR + 3 * MINUTE)).toBe(3);
  expect(problems).toEqual(['the token could not be renewed, and is used until it expires: 503']);
});

test('a file that cannot be written keeps the renewed token in use, and is reported', async () => {
  write(old);
  const own = opened({ kind: 'file', path: file });
  now = 2 * HOUR;
  expect(own.token).toBe(old);
  rmSync(dir, { recursive: true });
  await settled();
  expect(problems).toEqual([expect.stringContaining(`could not be written to ${file}`)]);
});

test.each(['file', 'symlink'])('a %s in the place of the new file gets no token, stays, and is named', async (kind) => {
  write(old);
  const next = `${file}.${process.pid}.new`;
  const other = path.join(dir, 'other');
  writeFileSync(other, 'of another');
  if (kind === 'file') writeFileSync(next, 'of another', { mode: 0o666 });
  else symlinkSync(other, next);
  const own = opened({ kind: 'file', path: file });
  now = 2 * HOUR;
  expect(own.token).toBe(old);
  await settled();
  expect(own.token).toBe(renewed);
  expect(problems).toEqual([expect.stringContaining(`${next} exists already; remove it`)]);
  expect([readFileSync(next, 'utf8'), readFileSync(other, 'utf8')]).toEqual(['of another', 'of another']);
  expect(lstatSync(next).isSymbolicLink()).toBe(kind === 'symlink');
  expect(readFileSync(file, 'utf8')).toBe(`${old}\n`);
});
