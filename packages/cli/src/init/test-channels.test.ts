import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { channelsIn, type TestDeps, testChannels, testedLine, testedLines } from './test-channels.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'vigil-init-test-'));
afterAll(() => rmSync(dir, { recursive: true }));

type Found = {
  readonly outcome: 'pending' | 'applied' | 'refused';
  readonly reason: string | null;
  readonly events: object[];
};

const PENDING: Found = { outcome: 'pending', reason: 'waits for the delivery to phone', events: [] };
const delivered = (to: string): Found => ({ outcome: 'applied', reason: `delivered to ${to}`, events: [] });

/** A dashboard that numbers commands, and answers these outcomes one after the other, the last again and again. */
const sending = async (channels: readonly string[], ...outcomes: readonly Found[]) => {
  let [now, looks, commands] = [0, 0, 0];
  const posted: object[] = [];
  const client = {
    post: async (_: string, command: object) => {
      posted.push(command);
      commands += 1;
      return { eventId: `e-${commands}` };
    },
    get: async () => {
      const found = outcomes[Math.min(looks, outcomes.length - 1)];
      looks += 1;
      return found;
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
  const { tested, posted } = await sending(['phone', 'ops'], PENDING, delivered('phone'), delivered('ops'));
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
  const { tested } = await sending(['phone'], {
    ...{ outcome: 'refused', reason: 'channel "phone" does not exist; channels: console', events: [] },
  });
  const detail = 'channel "phone" does not exist; channels: console; to add one, start Vigil with VIGIL_ALERTS_FILE';
  expect(tested).toEqual([{ channel: 'phone', outcome: 'unknown_channel', detail }]);
  expect(tested.map(testedLine)).toEqual([`Refused: ${detail}.`]);
});

test('the default channels are reported by their names', async () => {
  const { tested } = await sending(['default'], delivered('console, ops'));
  expect(tested.map(testedLine)).toEqual(['Delivered to console, ops.']);
});

test('a channel that fails is reported with the reason, and one without a delivery in time as waiting', async () => {
  const failure = { type: 'ALERT_DELIVERED', payload: { sink: 'phone', ok: false, detail: 'answered 403' } };
  const reason = 'not delivered to phone: answered 403';
  const { tested } = await sending(['phone'], { outcome: 'refused', reason, events: [failure] });
  expect(tested).toEqual([{ channel: 'phone', outcome: 'failed', detail: reason }]);
  expect(tested.map(testedLine)).toEqual(['Not delivered to phone: answered 403.']);
  expect((await sending(['phone'], PENDING)).tested).toMatchObject([{ outcome: 'waiting' }]);
});

test('without Vigil nothing is sent, and each channel has the reason', async () => {
  const client = {
    post: async () => {
      throw new Error('the dashboard does not answer');
    },
    get: async () => PENDING,
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
    '  phone        not sent: the dashboard does not answer',
    '  ops          not sent: the dashboard does not answer',
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
