import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hashOfToken, type Person, peopleText } from '@vigil/read-model/people';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openPeople, signed } from './people.ts';

const ada: Person = { name: 'ada', role: 'operator', sha256: hashOfToken('of-ada'), createdAt: 0, expiresAt: 5000 };
const eve: Person = { ...ada, name: 'eve', role: 'viewer', sha256: hashOfToken('of-eve'), expiresAt: null };

let dir = '';
let now = 0;
let failures: unknown[] = [];
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'vigil-people-'));
  now = 0;
  failures = [];
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const write = (text: string): string => {
  const file = path.join(dir, 'people.json');
  writeFileSync(file, text, { mode: 0o600 });
  return file;
};
const open = (file: string | null) =>
  openPeople({ token: 'of-the-admin', file, now: () => now, onFailure: (error) => failures.push(error) });

test('a token has the name and the role of its person, until it expires', () => {
  const people = open(write(peopleText([ada, eve])));
  expect(people.callerOfHash(hashOfToken('of-ada'))).toMatchObject({ name: 'ada', role: 'operator' });
  expect(people.callerOfHash(hashOfToken('of-eve'))).toMatchObject({ name: 'eve', role: 'viewer' });
  expect(people.callerOfHash(hashOfToken('of-the-admin'))).toEqual({ name: 'admin', role: 'admin' });
  expect(people.callerOfHash(hashOfToken('of-no-person'))).toBeNull();
  now = 4999;
  expect(people.callerOfHash(hashOfToken('of-ada'))).not.toBeNull();
  now = 5000;
  expect(people.callerOfHash(hashOfToken('of-ada'))).toBeNull();
});

test('a revocation holds within a second, and without a file only the admin has a token', () => {
  const people = open(write(peopleText([ada, eve])));
  write(peopleText([ada]));
  now = 1000;
  expect(people.callerOfHash(hashOfToken('of-eve'))).toBeNull();
  expect(people.callerOfHash(hashOfToken('of-ada'))).not.toBeNull();
  expect(open(null).callerOfHash(hashOfToken('of-ada'))).toBeNull();
  expect(open(null).callerOfHash(hashOfToken('of-the-admin'))).not.toBeNull();
});

test('a file that is broken later keeps the people of before, and is reported', () => {
  const people = open(write(peopleText([ada])));
  write('{ "people": [');
  now = 1000;
  expect(people.callerOfHash(hashOfToken('of-ada'))).not.toBeNull();
  expect(failures).toEqual([expect.objectContaining({ message: expect.stringContaining('not JSON') })]);
});

test.each([
  ['{', /not JSON/],
  ['{}', /write \{ "people"/],
  [peopleText([{ ...ada, role: 'boss' as never }]), /people\[0\]\.role .* viewer, responder, operator, admin/],
  [peopleText([{ ...ada, sha256: 'of-ada' }]), /sha256/],
  [peopleText([{ ...ada, name: 'a b' }]), /name/],
  [peopleText([ada, ada]), /ada is there twice/],
  [peopleText([{ ...ada, name: 'admin' }]), /admin is the name of the bearer/],
])('the file %j is refused at the start', (text, message) => {
  expect(() => open(write(text))).toThrow(message);
});

test('a file that others may change is refused, and one that does not exist', () => {
  const file = write(peopleText([ada]));
  chmodSync(file, 0o622);
  expect(() => open(file)).toThrow('may be changed by others');
  expect(() => open(path.join(dir, 'missing.json'))).toThrow('does not exist');
});

test('a file in a folder where others may replace it is refused, unless the folder keeps the files of each', () => {
  const file = write(peopleText([ada]));
  chmodSync(dir, 0o777);
  expect(() => open(file)).toThrow(`${dir} may be changed by others`);
  chmodSync(dir, 0o1777);
  expect(open(file).callerOfHash(hashOfToken('of-ada'))).not.toBeNull();
});

test.skipIf(process.getuid?.() !== 0)('a file or a folder of another user is refused', () => {
  const file = write(peopleText([ada]));
  chownSync(file, 12_345, 12_345);
  expect(() => open(file)).toThrow(`${file} belongs to user 12345`);
  chownSync(file, 0, 0);
  chownSync(dir, 12_345, 12_345);
  expect(() => open(file)).toThrow(`${dir} belongs to user 12345`);
});

test('a claimed name follows the name of the token, and cannot look like another token', () => {
  expect(signed({ name: 'ada' }, 'ada')).toBe('ada');
  expect(signed({ name: 'bot' }, 'ada')).toBe('bot (ada)');
  expect(signed({ name: 'bot' }, 'x) admin (\u202eroot\n')).toBe('bot (x admin root)');
});
