import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { openFileLog } from '@vigil/stream';
import { afterAll, expect, test } from 'vitest';
import { type Config, config } from '../config.ts';
import { exportFor, replayFor } from './child.ts';
import type { ReplaySpec } from './fold.ts';
import { ReplayFailed } from './replays.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'vigil-replays-'));
afterAll(() => rmSync(dir, { recursive: true }));

const configOf = (file: string): Config =>
  config.parse({
    ...{ VIGIL_LOG_FILE: file, VIGIL_PARTITIONS: '2', VIGIL_DASHBOARD_TOKEN: 'a-token-for-tests-only' },
    DATABASE_URL: 'postgres://vigil@127.0.0.1:1/vigil',
  });
const file = path.join(dir, 'log.sqlite');
const log = await openFileLog({ path: file, partitions: 2, writes: [], now: Date.now });
afterAll(() => log[Symbol.asyncDispose]());

const SPEC: ReplaySpec = { kind: 'verify', span: { from: null, to: null, agent: null } };

test('a process reads the log beside its dashboard, and returns the result', async () => {
  const steps: number[][] = [];
  const result = await replayFor(configOf(file))(SPEC, (...step) => steps.push(step), new AbortController().signal);
  expect(result).toMatchObject({ kind: 'verify', observations: 0, agents: 0, differences: [] });
  expect(steps.at(-1)).toEqual([0, 0]);
});

test('an abort ends the process, also before it has begun', async () => {
  const stop = new AbortController();
  const running = replayFor(configOf(file))(SPEC, () => {}, stop.signal);
  stop.abort(new Error('cancelled'));
  await expect(running).rejects.toThrow('cancelled');
  await expect(replayFor(configOf(file))(SPEC, () => {}, stop.signal)).rejects.toThrow('cancelled');
});

test('a failure in the process has its reason', async () => {
  const running = replayFor(configOf(path.join(dir, 'none', 'log.sqlite')))(
    SPEC,
    () => {},
    new AbortController().signal,
  );
  await expect(running).rejects.toThrow(ReplayFailed);
});

test('an export is the file of `vigil replay export`, from its header to its last line', async () => {
  const output = new PassThrough();
  const lines = text(output.pipe(createGunzip()));
  const exported = await exportFor(configOf(file))(SPEC.span, output, new AbortController().signal);
  output.end();
  expect(exported).toEqual({ observations: 0, decisions: 0, agents: 0 });
  const [first = '', ...others] = (await lines).trim().split('\n');
  expect(JSON.parse(first)).toMatchObject({ vigil_replay: 1, span: SPEC.span, partitions: 2 });
  expect(JSON.parse(others.at(-1) ?? '')).toEqual({ kind: 'end', observations: 0 });
});
