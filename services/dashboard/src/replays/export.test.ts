import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { openExports, type RunExport } from './export.ts';
import { ReplayFailed } from './replays.ts';

const SPAN = { from: null, to: null, agent: null };
const { signal } = new AbortController();

/** Runs until its signal ends it. */
const lasting: RunExport = (_, output, ends) => {
  output.write('first');
  return new Promise((_resolve, reject) => ends.addEventListener('abort', () => reject(ends.reason)));
};

test('the file has what the export writes, and the next export may begin at its end', async () => {
  const run: RunExport = async (_, output) => void output.write('lines');
  const exports = openExports({ run, limitMs: 60_000, signal });
  expect(await text(await exports.open(SPAN))).toBe('lines');
  expect(await text(await exports.open(SPAN))).toBe('lines');
});

test('a second export is refused while one runs, and begins when the reader of the first has gone', async () => {
  const exports = openExports({ run: lasting, limitMs: 60_000, signal });
  const first = await exports.open(SPAN);
  await expect(exports.open(SPAN)).rejects.toMatchObject({ status: 429, type: 'too_many_replays' });
  first.destroy();
  await vi.waitFor(async () => (await exports.open(SPAN)).destroy());
});

test('a failure before the first part is a problem with its reason', async () => {
  const run: RunExport = async () => {
    throw new ReplayFailed('the log has no rules');
  };
  const opened = openExports({ run, limitMs: 60_000, signal }).open(SPAN);
  await expect(opened).rejects.toMatchObject({ status: 422, type: 'export_failed', message: 'the log has no rules' });
});

test('a failure after the first part breaks the file off', async () => {
  const run: RunExport = async (_, output) => {
    output.write('first');
    await sleep(1);
    throw new Error('the broker has gone');
  };
  const file = await openExports({ run, limitMs: 60_000, signal }).open(SPAN);
  await expect(text(file)).rejects.toThrow('the broker has gone');
});

test('an export that runs longer than its limit breaks off with the remedy', async () => {
  const file = await openExports({ run: lasting, limitMs: 20, signal }).open(SPAN);
  await expect(text(file)).rejects.toThrow('use `vigil replay export` on the command line');
});
