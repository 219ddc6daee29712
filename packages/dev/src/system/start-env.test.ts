import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startEnvText } from './services.ts';
import { freshTokens, keptTokens } from './start-system.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'vigil-start-env-'));
afterAll(() => rmSync(dir, { recursive: true }));

const env = { VIGIL_GATEWAY_URL: 'http://127.0.0.1:7410', KAFKA_BROKERS: '127.0.0.1:19092', ODD: `a b'c$d"e=f` };

test('a shell that reads start.env passes its variables to the programs that it starts', () => {
  const file = path.join(dir, 'start.env');
  writeFileSync(file, startEnvText(env));
  const child = execFileSync('/bin/sh', ['-c', `. '${file}'; env`], { env: {}, encoding: 'utf8' }).split('\n');
  for (const [name, value] of Object.entries(env)) expect(child).toContain(`${name}=${value}`);
});

test('the command line reads back the written file', async () => {
  // Plain JavaScript, because it runs on the machine's own Node before another one is installed.
  const file: string = path.join(import.meta.dirname, '../../bootstrap/start-env.mjs');
  const { readStartEnv } = await import(file);
  expect(readStartEnv(startEnvText(env))).toEqual(env);
});

test('the keys of `npm start` are long enough for signatures', () => {
  const { secret, keys } = freshTokens();
  for (const key of [secret, ...Object.values(keys)]) expect(key.length).toBeGreaterThanOrEqual(32);
});

test('the tokens of a folder are kept, so that a named token of an earlier `npm start` stays valid', () => {
  const tokens = keptTokens(dir);
  expect(keptTokens(dir)).toEqual(tokens);
  const { keys, ...others } = tokens;
  expect(new Set([...Object.values(keys), ...Object.values(others)]).size).toBe(5);
});
