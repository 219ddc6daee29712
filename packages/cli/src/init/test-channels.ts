import { readFileSync } from 'node:fs';
import type { Outcome } from '@vigil/read-model';
import { parse } from 'yaml';
import type { Client } from '../client.ts';

/** What happened to the test message of a channel. */
export type Tested = {
  readonly channel: string;
  readonly outcome: 'delivered' | 'failed' | 'unknown_channel' | 'waiting' | 'not_sent';
  /** for people */
  readonly detail: string;
};

/** The channels of a file, in its order, without the console. */
export const channelsIn = (file: string): readonly string[] => {
  const { channels = {} } = (parse(readFileSync(file, 'utf8')) ?? {}) as { readonly channels?: object };
  return Object.keys(channels);
};

const PATIENCE_MS = 20_000;
const LOOK_MS = 500;

export type TestDeps = {
  readonly client: Pick<Client, 'get' | 'post'>;
  readonly by: string;
  readonly why: string;
  /** milliseconds of any origin */
  readonly now: () => number;
  readonly pause: (ms: number) => Promise<unknown>;
};

/** How long one question to the dashboard waits, seconds. */
const QUESTION_S = '5';

/** Sends a test message to a channel, and returns what happened to it. */
export const testChannel = async (channel: string, { client, by, why, now, pause }: TestDeps): Promise<Tested> => {
  const command = { kind: 'test_channel', channel, by, why };
  const { eventId } = await client.post<{ readonly eventId: string }>('/v1/commands', command);
  for (const end = now() + PATIENCE_MS; ; await pause(LOOK_MS)) {
    const found = await client.get<Outcome>(`/v1/commands/${eventId}`, { wait: QUESTION_S });
    if (found.outcome !== 'pending') return testedBy(channel, found);
    if (now() >= end)
      return { channel, outcome: 'waiting', detail: 'not delivered yet: `vigil alert list --all` shows it later' };
  }
};

/** The test of an unknown channel is refused without a delivery. */
const testedBy = (channel: string, { outcome, reason, events }: Outcome): Tested => {
  const detail = reason ?? 'no reason is reported';
  if (outcome === 'applied') return { channel, outcome: 'delivered', detail };
  if (events.some(({ type }) => type === 'ALERT_DELIVERED')) return { channel, outcome: 'failed', detail };
  const remedy = `${detail}; to add one, start Vigil with VIGIL_ALERTS_FILE`;
  return { channel, outcome: 'unknown_channel', detail: remedy };
};

const orNotSent = (channel: string, deps: TestDeps): Promise<Tested> =>
  testChannel(channel, deps).catch((error: Error) => ({
    channel,
    outcome: 'not_sent',
    detail: `not sent: ${error.message}`,
  }));

/** Sends a test message to each channel, one after the other, and returns what happened to each. */
export const testChannels = async (channels: readonly string[], deps: TestDeps): Promise<readonly Tested[]> => {
  const all: Tested[] = [];
  for (const channel of channels) all.push(await orNotSent(channel, deps));
  return all;
};

/** One test, in a line. */
export const testedLine = ({ channel, outcome, detail }: Tested): string => {
  switch (outcome) {
    case 'delivered':
    case 'failed':
      return `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`;
    case 'unknown_channel':
      return `Refused: ${detail}.`;
    case 'waiting':
    case 'not_sent':
      return `${channel}: ${detail}.`;
  }
};

/** A line for each channel. */
export const testedLines = (all: readonly Tested[]): readonly string[] => [
  all.length === 0 ? 'Test messages: the file has no channels besides the console.' : 'Test messages:',
  ...all.map(({ channel, detail }) => `  ${channel.padEnd(12)} ${detail}`),
];
