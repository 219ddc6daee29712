import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { databaseUrlFrom } from './database.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'vigil-database-url-'));
afterAll(() => rmSync(dir, { recursive: true }));
const DATABASE_PASSWORD_FILE = path.join(dir, 'password');
writeFileSync(DATABASE_PASSWORD_FILE, 'a/b@c%d\n');

test('a password of any characters comes from its file, and the options of TLS stay', () => {
  const DATABASE_URL = 'postgres://vigil@db:5432/vigil?sslmode=verify-full';
  const url = new URL(databaseUrlFrom({ DATABASE_URL, DATABASE_PASSWORD_FILE }));
  expect(decodeURIComponent(url.password)).toBe('a/b@c%d');
  expect([url.username, url.host, url.search]).toEqual(['vigil', 'db:5432', '?sslmode=verify-full']);
});

test('without a file the URL does not change', () => {
  const DATABASE_URL = 'postgres://vigil:secret@db/vigil';
  expect(databaseUrlFrom({ DATABASE_URL })).toBe(DATABASE_URL);
});

test('two passwords are refused, and a missing file is named', () => {
  const DATABASE_URL = 'postgres://vigil:secret@db/vigil';
  expect(() => databaseUrlFrom({ DATABASE_URL, DATABASE_PASSWORD_FILE })).toThrow('leave one out');
  const missing = { DATABASE_URL: 'postgres://vigil@db/vigil', DATABASE_PASSWORD_FILE: '/nowhere' };
  expect(() => databaseUrlFrom(missing)).toThrow('DATABASE_PASSWORD_FILE names /nowhere, which cannot be read');
});
