import { readFileSync } from 'node:fs';
import type { AlertRow, Outcome } from '@vigil/read-model';
import { parse } from 'yaml';
import type { Client } from '../client.ts';

/** What happened to the test message of a channel. */
export type Tested = {
  readonly channel: string;
  readonly outcome: 'delivered' | 'failed' | 'unknown_channel' | 'waiting' | 'not_sent';
  /** for people */
  readonly detail: string;
};

type Rows = readonly Pick<AlertRow, 'alertId' | 'route' | 'alertKey' | 'text' | 'deliveries' | 'resolvedAt'>[];

/** The channels of a file, in its order, without the console. */
export const channelsIn = (file: string): readonly string[] => {
  const { channels = {} } = (parse(readFileSync(file, 'utf8')) ?? {}) as { readonly channels?: object };
  return Object.keys(channels);
};

const isFailing = ({ route, alertKey, resolvedAt }: Rows[number], channel: string): boolean =>
  route === 'sink_failing' && resolvedAt === null && alertKey?.endsWith(`:${channel}`) === true;

/** What the alerts show of a test message; null: nothing yet. */
export const outcomeIn = (rows: Rows, alertId: string, channel: string): Tested | null => {
  const deliveries = rows.find((one) => one.alertId === alertId)?.deliveries ?? [];
  const delivered = deliveries.filter(({ ok }) => ok).map(({ sink }) => sink);
  if (delivered.includes(channel)) return { channel, outcome: 'delivered', detail: 'the test message is delivered' };
  // The channel "default" has several sinks under names of their own.
  if (delivered.length > 0)
    return { channel, outcome: 'delivered', detail: `the test message is delivered to ${delivered.join(', ')}` };
  const failing = rows.find((one) => isFailing(one, channel));
  return failing === undefined ? null : { channel, outcome: 'failed', detail: failing.text ?? 'it fails' };
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
  const decided = await client.get<Outcome>(`/v1/commands/${eventId}`, { wait: QUESTION_S });
  if (decided.outcome === 'refused')
    return {
      ...{ channel, outcome: 'unknown_channel' },
      detail: `${decided.reason}; to add one, start Vigil with VIGIL_ALERTS_FILE`,
    };
  for (const end = now() + PATIENCE_MS; ; await pause(LOOK_MS)) {
    const { alerts } = await client.get<{ readonly alerts: Rows }>('/v1/alerts');
    const outcome = outcomeIn(alerts, eventId, channel);
    if (outcome !== null) return outcome;
    if (now() >= end)
      return { channel, outcome: 'waiting', detail: 'not delivered yet: `vigil alert list --all` shows it later' };
  }
};

const orNotSent = (channel: string, deps: TestDeps): Promise<Tested> =>
  testChannel(channel, deps).catch((error: Error) => ({ channel, outcome: 'not_sent', detail: error.message }));

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
      return `Delivered to ${channel}: ${detail}.`;
    case 'failed':
      return `Not delivered to ${channel}: ${detail}.`;
    case 'unknown_channel':
      return `Refused: ${detail}.`;
    case 'waiting':
    case 'not_sent':
      return `${channel}: ${detail}.`;
  }
};

const WORDS: Readonly<Record<Tested['outcome'], string>> = {
  delivered: 'delivered',
  failed: 'failed',
  unknown_channel: 'unknown',
  waiting: 'waiting',
  not_sent: 'not sent',
};

/** A line for each channel. */
export const testedLines = (all: readonly Tested[]): readonly string[] => [
  all.length === 0 ? 'Test messages: the file has no channels besides the console.' : 'Test messages:',
  ...all.map(({ channel, outcome, detail }) => `  ${channel.padEnd(12)} ${WORDS[outcome].padEnd(9)} ${detail}`),
];
