import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { appendTo } from './nudge-file.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'vigil-test-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

test('each text is a line of JSON, as on the socket, after the lines that are there already', () => {
  const path = join(dir, 'nudges.jsonl');
  appendTo({ path, format: 'jsonl' }, { nudge: 'one\ntwo', order_id: 'o1' }, 'one\ntwo');
  appendTo({ path, format: 'jsonl' }, { probe: 'n', message: 'three', order_id: 'o2' }, 'three');
  expect(readFileSync(path, 'utf8')).toBe(
    '{"nudge":"one\\ntwo","order_id":"o1"}\n{"probe":"n","message":"three","order_id":"o2"}\n',
  );
  expect(statSync(path).mode & 0o077).toBe(0);
});

test('as text, each is one line, with any text in it', () => {
  const path = join(dir, 'nudges.txt');
  appendTo({ path, format: 'text' }, { nudge: '', order_id: 'o1' }, 'one\r\n\n two');
  appendTo({ path, format: 'text' }, { nudge: '', order_id: 'o1' }, 'three');
  expect(readFileSync(path, 'utf8')).toBe('one two\nthree\n');
});

test('a pipe without a reader does not block', () => {
  const path = join(dir, 'pipe');
  execFileSync('mkfifo', [path]);
  expect(() => appendTo({ path, format: 'text' }, { nudge: '', order_id: 'o1' }, 'one')).toThrow(/ENXIO/);
});
