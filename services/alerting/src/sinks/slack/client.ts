import { LogLevel, WebAPIHTTPError, WebAPIPlatformError, WebAPIRateLimitedError, WebClient } from '@slack/web-api';
import { z } from 'zod';
import { TryLater, Undeliverable } from '../../delivery/sink.ts';

/** `isUpdate`: a reply notifies people of it; the first message notifies them itself. */
type Metadata = { readonly alertId: string; readonly eventId: string; readonly isUpdate: boolean };

/** The first message of an alert. `eventId`: the last event that it shows; `isNotified`: people are certainly notified of it. */
export type Thread = { readonly ts: string; readonly eventId: string; readonly isNotified: boolean };

type Content = { readonly text: string; readonly blocks: readonly object[] };
type Settings = {
  readonly base: string;
  readonly token: string;
  readonly channel: string;
  /** milliseconds */
  readonly timeout: number;
};

/** The type of our metadata: other apps may write others. */
const EVENT_TYPE = 'vigil_alert';
/** Of a reply. */
const NOTE_TYPE = 'vigil_note';
const MOST_PAGES = 20;
const PAGE = 200;

/** Errors of the platform that pass by themselves. */
const PASSING: readonly string[] = [
  'ratelimited',
  'rate_limited',
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'request_timeout',
  'team_added_to_org',
];

const REMEDIES: Readonly<Record<string, string>> = {
  not_in_channel: 'invite the app to the channel',
  channel_not_found: "write the channel's id, and invite the app to it",
  is_archived: 'the channel is archived: choose another',
  invalid_auth: 'give it a valid token of the bot',
  not_authed: 'give it a valid token of the bot',
  token_revoked: 'give it a valid token of the bot',
  account_inactive: 'give it a valid token of the bot',
  missing_scope: 'give the app the scopes chat:write, channels:history and groups:history',
};

const page = z.object({
  messages: z
    .array(
      z.object({
        ts: z.string(),
        metadata: z
          .object({ event_type: z.string(), event_payload: z.record(z.string(), z.unknown()) })
          .optional()
          .catch(undefined),
      }),
    )
    .default([]),
  response_metadata: z.object({ next_cursor: z.string().default('') }).optional(),
});

/** Logs nothing: each error is thrown, and some contain what was sent. */
const silent = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  setLevel: () => {},
  getLevel: () => LogLevel.ERROR,
  setName: () => {},
};

/** The calls of the Web API that a channel needs. They throw TryLater or Undeliverable; our reactor repeats them. */
export const clientOf = ({ base, token, channel, timeout }: Settings) => {
  const web = new WebClient(token, {
    slackApiUrl: base,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    timeout,
    logger: silent,
  });
  const call = (method: string, fields: object): Promise<unknown> =>
    web.apiCall(method, { channel, ...fields }).catch((error: unknown) => {
      throw failureOf(method, error);
    });
  const metadataOf = ({ alertId, eventId, isUpdate }: Metadata) => ({
    event_type: EVENT_TYPE,
    event_payload: { alert_id: alertId, event_id: eventId, is_update: isUpdate },
  });
  return {
    /** The time stamp of the new message, which is its id. */
    post: async (content: Content, metadata: Metadata): Promise<string> => {
      const answer = await call('chat.postMessage', {
        ...content,
        metadata: metadataOf(metadata),
        unfurl_links: false,
      });
      return z.object({ ts: z.string() }).parse(answer).ts;
    },
    /** `isLoud`: the reply is also shown in the channel. `eventId`: the event that it shows. */
    reply: (thread: string, text: string, isLoud: boolean, eventId: string): Promise<unknown> =>
      call('chat.postMessage', {
        ...{ thread_ts: thread, text, reply_broadcast: isLoud, unfurl_links: false },
        metadata: { event_type: NOTE_TYPE, event_payload: { event_id: eventId } },
      }),
    /** Whether a reply shows an event that happened then. */
    hasReply: async (thread: string, eventId: string, occurredAt: number): Promise<boolean> => {
      const asked = { ts: thread, oldest: String(occurredAt / 1000 - 60), limit: PAGE, include_all_metadata: true };
      const { messages } = page.parse(await call('conversations.replies', asked));
      return messages.some(
        ({ metadata }) => metadata?.event_type === NOTE_TYPE && metadata.event_payload.event_id === eventId,
      );
    },
    update: (ts: string, content: Content, metadata: Metadata): Promise<unknown> =>
      call('chat.update', { ts, ...content, metadata: metadataOf(metadata) }),
    /** The first message of an alert that was raised then; null: there is none. */
    find: async (alertId: string, raisedAt: number): Promise<Thread | null> => {
      let cursor = '';
      for (let read = 0; read < MOST_PAGES; read += 1) {
        const oldest = String(raisedAt / 1000 - 60);
        const more = cursor === '' ? {} : { cursor };
        const asked = { oldest, limit: PAGE, include_all_metadata: true, ...more };
        const { messages, response_metadata } = page.parse(await call('conversations.history', asked));
        const own = messages.find(
          ({ metadata }) => metadata?.event_type === EVENT_TYPE && metadata.event_payload.alert_id === alertId,
        );
        if (own?.metadata !== undefined) {
          const { event_id, is_update } = own.metadata.event_payload;
          return { ts: own.ts, eventId: String(event_id), isNotified: is_update !== true };
        }
        cursor = response_metadata?.next_cursor ?? '';
        if (cursor === '') return null;
      }
      return null;
    },
  };
};

export type Client = ReturnType<typeof clientOf>;

const failureOf = (method: string, error: unknown): Error => {
  if (error instanceof WebAPIRateLimitedError)
    return new TryLater(`Slack limits the rate of ${method}`, error.retryAfter * 1000);
  if (error instanceof WebAPIPlatformError) {
    const { error: code } = error.data;
    if (PASSING.includes(code)) return new TryLater(`Slack answered ${code} to ${method}`);
    return new Undeliverable(`Slack answered ${code} to ${method}: ${REMEDIES[code] ?? 'see docs.slack.dev for it'}`);
  }
  if (error instanceof WebAPIHTTPError) {
    const { statusCode } = error;
    const isPassing = statusCode === 408 || statusCode === 429 || statusCode >= 500;
    const answer = `Slack answered ${statusCode} to ${method}`;
    return isPassing ? new TryLater(answer) : new Undeliverable(`${answer}: correct the address`);
  }
  return new TryLater(`Slack cannot be reached for ${method}: ${(error as Error).message}`);
};
