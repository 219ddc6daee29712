import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { ChildEnded, ChildFailed, inChild } from './child.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'vigil-child-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** Runs a program that gets its data as its first message. */
const running = (name: string, program: string, output: PassThrough | null = null) => {
  const file = path.join(dir, `${name}.mjs`);
  writeFileSync(file, `process.once('message', (data) => { ${program} });`);
  const child = { file: pathToFileURL(file), data: { a: 1 }, memoryMb: null, output };
  return inChild(child, () => {}, new AbortController().signal);
};

test('the result of the process is returned', async () => {
  expect(await running('works', `process.send({ kind: 'result', result: data })`)).toEqual({ a: 1 });
});

test('a reported failure has its reason', async () => {
  const failed = running('fails', `process.send({ kind: 'failed', why: 'no such policy' })`);
  await expect(failed).rejects.toThrow(new ChildFailed('no such policy'));
});

test('a process that crashes is an error with its signal, and ends nothing else', async () => {
  const crashed = running('crashes', `process.kill(process.pid, 'SIGSEGV')`);
  await expect(crashed).rejects.toThrow(
    new ChildEnded('the process of the replay ended with SIGSEGV, without a result'),
  );
});

test('what the process writes is passed on whole before its result is returned', async () => {
  const output = new PassThrough();
  const written = text(output);
  const program = `process.getBuiltinModule('node:fs').writeSync(1, 'x'.repeat(1_000_000)); process.send({ kind: 'result', result: 1 })`;
  await running('writes', program, output);
  output.end();
  expect((await written).length).toBe(1_000_000);
});
