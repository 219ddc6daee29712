import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { channelsIn, type TestDeps, testChannels, testedLine, testedLines } from './test-channels.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'vigil-init-test-'));
afterAll(() => rmSync(dir, { recursive: true }));

const row = (alertId: string, more: object = {}) => ({
  ...{ alertId, route: 'channel_test', alertKey: `channel_test:${alertId}`, text: '', resolvedAt: 5, deliveries: [] },
  ...more,
});
const by = (...sinks: readonly string[]) => sinks.map((sink) => ({ sink, ok: true, detail: null }));

/** A dashboard that numbers commands, and shows these alerts one after the other, the last again and again. */
const sending = (channels: readonly string[], ...shown: readonly object[][]) => deciding(channels, null, shown);

const deciding = async (channels: readonly string[], refusal: string | null, shown: readonly object[][]) => {
  let [now, looks, commands] = [0, 0, 0];
  const posted: object[] = [];
  const decided = { outcome: refusal === null ? 'applied' : 'refused', reason: refusal };
  const client = {
    post: async (_: string, command: object) => {
      posted.push(command);
      commands += 1;
      return { eventId: `e-${commands}` };
    },
    get: async (path: string) => {
      if (path.startsWith('/v1/commands/')) return decided;
      const alerts = shown[Math.min(looks, shown.length - 1)] ?? [];
      looks += 1;
      return { alerts };
    },
  } as unknown as TestDeps['client'];
  const pause = async (ms: number) => {
    now += ms;
  };
  return {
    tested: await testChannels(channels, { client, by: 'ada', why: 'vigil init', now: () => now, pause }),
    posted,
  };
};

test('each channel gets a test message, and its delivery is reported', async () => {
  const both = [row('e-1', { deliveries: by('phone') }), row('e-2', { deliveries: by('ops') })];
  const { tested, posted } = await sending(['phone', 'ops'], [], both);
  expect(posted).toEqual([
    { kind: 'test_channel', channel: 'phone', by: 'ada', why: 'vigil init' },
    { kind: 'test_channel', channel: 'ops', by: 'ada', why: 'vigil init' },
  ]);
  expect(tested.map(({ channel, outcome }) => [channel, outcome])).toEqual([
    ['phone', 'delivered'],
    ['ops', 'delivered'],
  ]);
});

test('a channel that the running Vigil does not have is refused with the channels, and nothing is awaited', async () => {
  const { tested } = await deciding(['phone'], 'channel "phone" does not exist; channels: console', [[]]);
  const detail = 'channel "phone" does not exist; channels: console; to add one, start Vigil with VIGIL_ALERTS_FILE';
  expect(tested).toEqual([{ channel: 'phone', outcome: 'unknown_channel', detail }]);
  expect(tested.map(testedLine)).toEqual([`Refused: ${detail}.`]);
});

test('the default channels are reported by their names', async () => {
  const { tested } = await sending(['default'], [row('e-1', { deliveries: by('console', 'ops') })]);
  expect(tested.map(testedLine)).toEqual(['Delivered to default: the test message is delivered to console, ops.']);
});

test('a channel that fails is reported with the reason, and one that failed before is not', async () => {
  const failing = { route: 'sink_failing', alertKey: 'sink_failing:fleet:phone', text: 'answered 403' };
  const { tested } = await sending(['phone'], [row('a-1', { ...failing, resolvedAt: null })]);
  expect(tested).toEqual([{ channel: 'phone', outcome: 'failed', detail: 'answered 403' }]);
  const before = await sending(['phone'], [row('a-1', failing)]);
  expect(before.tested).toMatchObject([{ outcome: 'waiting' }]);
  const other = await sending(['ops'], [row('a-1', { ...failing, resolvedAt: null })]);
  expect(other.tested).toMatchObject([{ channel: 'ops', outcome: 'waiting' }]);
});

test('without Vigil nothing is sent, and each channel has the reason', async () => {
  const client = {
    post: async () => {
      throw new Error('the dashboard does not answer');
    },
    get: async () => ({ alerts: [] }),
  } as unknown as TestDeps['client'];
  const tested = await testChannels(['phone', 'ops'], {
    client,
    by: 'ada',
    why: 'vigil init',
    now: () => 0,
    pause: async () => {},
  });
  expect(testedLines(tested)).toEqual([
    'Test messages:',
    '  phone        not sent  the dashboard does not answer',
    '  ops          not sent  the dashboard does not answer',
  ]);
});

test('the channels are those of the file, without the console', () => {
  const file = path.join(dir, 'alerts.yaml');
  writeFileSync(file, 'default: [console, phone]\nchannels:\n  phone: { kind: ntfy }\n  ops: { kind: slack }\n');
  expect(channelsIn(file)).toEqual(['phone', 'ops']);
  writeFileSync(file, 'default: [console]\nchannels: {}\n');
  expect(channelsIn(file)).toEqual([]);
  expect(testedLines([])).toEqual(['Test messages: the file has no channels besides the console.']);
});
