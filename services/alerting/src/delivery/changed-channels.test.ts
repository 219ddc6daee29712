import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { silentLogger } from '@vigil/stream';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { sinkDeps } from '../sinks/sinks.fixture.ts';
import { readNow, watchChannels } from './changed-channels.ts';
import { openChannels } from './channels.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'vigil-changed-channels-'));
const file = path.join(dir, 'alerts.yaml');
afterAll(() => rmSync(dir, { recursive: true }));
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const USABLE = 'channels: { bus: { kind: command, argv: [echo] } }';
const OTHER = 'channels: { other: { kind: command, argv: [echo] } }';

/** The watch of a file that begins with a usable text; undefined: there is none. */
const watching = (name: string | undefined) => {
  writeFileSync(file, USABLE);
  const config = { VIGIL_DASHBOARD_URL: 'http://127.0.0.1:7420', VIGIL_ALERTS_FILE: name };
  const warn = vi.fn();
  const end = new AbortController();
  const { finished } = watchChannels(readNow(name), {
    check: () => void openChannels(config, { ...sinkDeps, write: () => {} }),
    logger: { ...silentLogger, warn },
    signal: end.signal,
  });
  const ended = vi.fn();
  finished.catch((error: Error) => ended(error.message));
  return { warn, ended, stop: () => end.abort() };
};

const seconds = (n: number) => vi.advanceTimersByTimeAsync(1000 * n);

test('a changed file that can be used ends the process, and the message names the file', async () => {
  const { ended, warn } = watching(file);
  await seconds(20);
  expect(ended).not.toHaveBeenCalled();
  writeFileSync(file, OTHER);
  await seconds(5);
  expect(ended).toHaveBeenCalledExactlyOnceWith(`${file} has changed: alerting starts again with its channels`);
  expect(warn).not.toHaveBeenCalled();
});

test.each(['channels: { bus: { kind: pager } }', 'channels: ['])(
  'a file that cannot be used (%s) changes nothing, is logged once, and may be corrected',
  async (text) => {
    const { ended, warn } = watching(file);
    writeFileSync(file, text);
    await seconds(20);
    expect(ended).not.toHaveBeenCalled();
    expect(warn).toHaveBeenCalledTimes(1);
    writeFileSync(file, OTHER);
    await seconds(5);
    expect(ended).toHaveBeenCalledTimes(1);
  },
);

test('a file that is being written is used once it is whole', async () => {
  const { ended, warn } = watching(file);
  await seconds(4);
  writeFileSync(file, 'channels: {}');
  await seconds(2);
  writeFileSync(file, OTHER);
  await seconds(2);
  expect(ended).not.toHaveBeenCalled();
  await seconds(3);
  expect(ended).toHaveBeenCalledTimes(1);
  expect(warn).not.toHaveBeenCalled();
});

test('a file whose secret comes later is used once the secret is there', async () => {
  const { ended, warn } = watching(file);
  const secret = path.join(dir, 'secret');
  writeFileSync(file, `channels: { pager: { kind: pagerduty, routing_key_file: ${secret} } }`);
  await seconds(20);
  expect(ended).not.toHaveBeenCalled();
  expect(warn).toHaveBeenCalledTimes(1);
  writeFileSync(secret, 'key');
  await seconds(3);
  expect(ended).toHaveBeenCalledTimes(1);
});

test('a change while the service starts counts: the file is read before its channels are opened', async () => {
  writeFileSync(file, USABLE);
  const before = readNow(file);
  writeFileSync(file, OTHER);
  const { finished } = watchChannels(before, {
    check: () => {},
    logger: silentLogger,
    signal: new AbortController().signal,
  });
  const ended = expect(finished).rejects.toThrow('has changed');
  await seconds(5);
  await ended;
});

test.each(['', ' \n'])(
  'a file that is away or empty (%j) changes nothing, and one with the same text does not either',
  async (text) => {
    const { ended } = watching(file);
    rmSync(file);
    await seconds(10);
    expect(ended).not.toHaveBeenCalled();
    writeFileSync(file, text);
    await seconds(10);
    expect(ended).not.toHaveBeenCalled();
    writeFileSync(file, USABLE);
    await seconds(10);
    expect(ended).not.toHaveBeenCalled();
  },
);

test('without a file, and after the end of the service, nothing is read', async () => {
  const without = watching(undefined);
  const stopped = watching(file);
  stopped.stop();
  writeFileSync(file, OTHER);
  await seconds(20);
  expect([without.ended.mock.calls, stopped.ended.mock.calls]).toEqual([[], []]);
});
