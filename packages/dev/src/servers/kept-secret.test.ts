import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { freshSecret, keptSecret, makePrivateFolder, secretFile } from './kept-secret.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'vigil-kept-secret-'));
afterAll(() => rmSync(dir, { recursive: true }));
const modeOf = (file: string): number => statSync(file).mode & 0o777;

test('a secret is created once and kept, so that data and tokens of an earlier run stay valid', () => {
  const made = keptSecret(dir, 'postgres');
  expect(keptSecret(dir, 'postgres')).toBe(made);
  expect(keptSecret(dir, 'gateway')).not.toBe(made);
});

test('only its owner may read a secret or list the secrets', () => {
  keptSecret(dir, 'dashboard');
  expect(modeOf(secretFile(dir, 'dashboard'))).toBe(0o600);
  expect(modeOf(path.dirname(secretFile(dir, 'dashboard')))).toBe(0o700);
});

test('a secret needs no quotes in a URL, a shell and a properties file', () => {
  expect(freshSecret()).toMatch(/^[A-Za-z0-9_-]{43}$/);
});

test('a folder that other users could read is closed to them', () => {
  const open = path.join(dir, 'open');
  mkdirSync(open, { mode: 0o755 });
  makePrivateFolder(open);
  expect(modeOf(open) & 0o066).toBe(0);
  expect(modeOf(open) & 0o011).toBe(process.getuid?.() === 0 ? 0o011 : 0);
});
