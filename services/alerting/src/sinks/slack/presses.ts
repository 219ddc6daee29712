import { SocketModeClient } from '@slack/socket-mode';
import { LogLevel } from '@slack/web-api';
import type { Logger } from '@vigil/stream';
import { z } from 'zod';
import type { SinkDeps } from '../../delivery/sink.ts';
import { DECIDE } from './blocks.ts';
import type { Client } from './client.ts';

type Listening = {
  readonly base: string;
  readonly appToken: string;
  /** milliseconds */
  readonly timeout: number;
  readonly client: Client;
  readonly deps: SinkDeps;
  readonly logger: Logger;
};

const press = z.object({
  type: z.literal('block_actions'),
  user: z.object({ id: z.string(), username: z.string().optional() }),
  container: z.object({ message_ts: z.string() }),
  actions: z.array(z.object({ action_id: z.string(), value: z.string().default('') })),
});
const problem = z.object({ detail: z.string() });

/**
 * Receives the presses of buttons by a connection that this process opens, so Slack needs no address of ours. A press
 * posts to the link of its choice; a refusal is a reply in the thread.
 */
export const listen = async ({
  base,
  appToken,
  timeout,
  client,
  deps,
  logger,
}: Listening): Promise<AsyncDisposable> => {
  const socket = new SocketModeClient({
    appToken,
    clientOptions: { slackApiUrl: base, timeout },
    logger: quietly(logger),
  });
  socket.on('interactive', async ({ ack, body }: { ack: () => Promise<void>; body: unknown }) => {
    await ack().catch(() => {});
    const read = press.safeParse(body);
    if (!read.success) return;
    const { user, container, actions } = read.data;
    for (const { action_id, value } of actions) {
      if (!action_id.startsWith(DECIDE) || value === '') continue;
      const refusal = await answer(value, user.username ?? user.id, timeout, deps);
      if (refusal !== null) await client.reply(container.message_ts, refusal, false, 'refusal').catch(() => {});
    }
  });
  // The service does not wait for Slack: deliveries and other sinks need no buttons.
  void socket.start().catch((error: unknown) => {
    logger.warn({ why: cleaned((error as Error).message) }, 'buttons in Slack do not answer: no connection to Slack');
  });
  return {
    [Symbol.asyncDispose]: async () => {
      await socket.disconnect().catch(() => {});
    },
  };
};

/** The reason for which the answer is refused; null: it is written. */
const answer = async (link: string, person: string, timeout: number, { dashboardUrl }: SinkDeps) => {
  const url = `${dashboardUrl.replace(/\/$/, '')}/v1/decision?link=${encodeURIComponent(link)}`;
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ by: person, why: 'by a button in Slack' }),
      signal: AbortSignal.timeout(timeout),
    });
    if (response.ok) return null;
    const read = problem.safeParse(await response.json().catch(() => null));
    return `The answer is not taken: ${read.success ? read.data.detail : `the dashboard answered ${response.status}`}`;
  } catch {
    return 'The answer is not taken: the dashboard does not answer. Use `vigil case decide`, or press again.';
  }
};

/** Addresses of the socket and tokens are secrets. */
const cleaned = (text: string): string => text.replace(/wss?:\/\/\S+|x(?:app|ox[a-z])-\S+/g, '…').slice(0, 300);

const quietly = (logger: Logger) => ({
  debug: () => {},
  info: () => {},
  warn: (...texts: unknown[]) => logger.warn({ why: cleaned(texts.join(' ')) }, 'the connection to Slack'),
  error: (...texts: unknown[]) => logger.warn({ why: cleaned(texts.join(' ')) }, 'the connection to Slack'),
  setLevel: () => {},
  getLevel: () => LogLevel.ERROR,
  setName: () => {},
});
