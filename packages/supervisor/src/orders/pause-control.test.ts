import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PauseControl, type PauseControlDeps, pauseRecordOf, RESUME_LATE_MS } from './pause-control.ts';

let dir = '';
let time = { wall: 1_000_000, monotonic: 0 };
let signals: string[] = [];
let logged: string[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'vigil-hold-'));
  time = { wall: 1_000_000, monotonic: 0 };
  signals = [];
  logged = [];
});
afterEach(() => rmSync(dir, { recursive: true }));

const open = (more: Partial<PauseControlDeps> = {}): PauseControl =>
  new PauseControl({
    user: null,
    pause: null,
    resume: null,
    signal: (signal) => signals.push(signal),
    env: {},
    onChange: () => {},
    record: pauseRecordOf(dir, 'instance-1'),
    clock: { now: () => time.wall, monotonic: () => time.monotonic },
    logger: (message) => logged.push(message),
    ...more,
  });
const passes = (ms: number): void => {
  time = { wall: time.wall + ms, monotonic: time.monotonic + ms };
};
/** All that it does by itself has been done. */
const looks = async (pauseControl: PauseControl): Promise<void> => {
  pauseControl.check();
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
};

test('a paused agent stands still for its pause plus the delay of an order; then it continues by itself, and the log records it', async () => {
  const pauseControl = open();
  await pauseControl.pause(60_000);
  passes(60_000 + RESUME_LATE_MS - 1);
  await looks(pauseControl);
  expect([pauseControl.isPaused, pauseControl.resumedByItself]).toEqual([true, false]);
  passes(1);
  await looks(pauseControl);
  expect([pauseControl.isPaused, pauseControl.resumedByItself]).toEqual([false, true]);
  expect(signals).toEqual(['SIGSTOP', 'SIGCONT']);
  expect(logged).toEqual([expect.stringContaining('continues by itself')]);
});

test('resumed by order it does not continue by itself as well', async () => {
  const pauseControl = open();
  await pauseControl.pause(1000);
  await pauseControl.resume();
  passes(3_600_000);
  await looks(pauseControl);
  expect(signals).toEqual(['SIGSTOP', 'SIGCONT']);
  expect(pauseControl.resumedByItself).toBe(false);
});

test('an agent that an earlier supervisor paused stays paused, and continues at the same moment', async () => {
  await open().pause(60_000);
  time = { wall: time.wall + 40_000, monotonic: 7 };
  const next = open();
  expect(next.isPaused).toBe(true);
  passes(20_000 + RESUME_LATE_MS - 1);
  await looks(next);
  expect(next.isPaused).toBe(true);
  passes(1);
  await looks(next);
  expect(next.isPaused).toBe(false);
  expect(open().isPaused).toBe(false);
});

test('an agent whose pause ended without a supervisor continues at once', async () => {
  await open().pause(60_000);
  passes(3_600_000);
  const next = open();
  expect(next.isPaused).toBe(true);
  await looks(next);
  expect(signals).toEqual(['SIGSTOP', 'SIGCONT']);
});

test('one that has ended leaves nothing behind', async () => {
  const pauseControl = open();
  await pauseControl.pause(60_000);
  pauseControl.forget();
  expect(open().isPaused).toBe(false);
});

test('what the disk does not take is not held', async () => {
  const record = {
    ...pauseRecordOf(dir, 'instance-1'),
    write: () => {
      throw new Error('the disk is full');
    },
  };
  const pauseControl = open({ record });
  await expect(pauseControl.pause(1000)).rejects.toThrow('full');
  expect([pauseControl.isPaused, signals]).toEqual([false, []]);
});
