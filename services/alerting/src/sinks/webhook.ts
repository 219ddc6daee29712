import { createHmac } from 'node:crypto';
import { httpUrl, Refused } from '@vigil/chassis';
import { duration } from '@vigil/policy';
import { z } from 'zod';
import { messageOf } from '../delivery/message.ts';
import { type Kind, type SinkDeps, TryLater, Undeliverable } from '../delivery/sink.ts';

const settings = z.strictObject({
  kind: z.literal('webhook'),
  url: httpUrl('write the address that is posted to, such as https://orchestrator.example/vigil').refine(
    (url) => !URL.canParse(url) || new URL(url).username + new URL(url).password === '',
    'write no name and password into it: none are sent, and the signature authenticates the sender',
  ),
  secret_env: z.string('name the environment variable that holds the secret').min(1),
  timeout: duration.default(10_000),
});

/** What a secret of the Standard Webhooks specification looks like: 24 to 64 bytes, in base64. */
const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;

/** The key in a secret; null: it is not a secret. */
const keyOf = (secret: string): Buffer | null => {
  const key = Buffer.from(SECRET.exec(secret)?.[1] ?? '', 'base64');
  return key.length >= 24 && key.length <= 64 ? key : null;
};

/**
 * The headers that authenticate a body and its time (standardwebhooks.com): one signature for each key, so that keys
 * can be changed without a gap.
 */
export const signed = (keys: readonly Buffer[], id: string, at: number, body: string): Record<string, string> => {
  const seconds = Math.floor(at / 1000);
  const signature = (key: Buffer) =>
    `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`;
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': keys.map(signature).join(' '),
  };
};

/** Signed as standardwebhooks.com defines; `webhook-id` is the same when a delivery is repeated. */
export const webhook: Kind<typeof settings> = {
  settings,
  open: (name, { url, secret_env, timeout }, deps) => {
    const keys = keysOf(name, secret_env, deps);
    return {
      name,
      deliver: async (alert) => {
        const body = JSON.stringify(await messageOf(alert, name, deps));
        const headers = signed(keys, alert.eventId, deps.now(), body);
        await post(url, { 'content-type': 'application/json', 'user-agent': 'Vigil', ...headers }, body, timeout, deps);
      },
    };
  },
};

/** One secret, or two with a space between them while they are being exchanged. */
const keysOf = (name: string, variable: string, { env }: SinkDeps): readonly Buffer[] => {
  const keys = (env[variable] ?? '').split(/\s+/).filter(Boolean).map(keyOf);
  const known = keys.filter((key) => key !== null);
  if (known.length > 0 && known.length === keys.length) return known;
  throw new Refused(
    `channels.${name}.secret_env: ${variable} ${keys.length === 0 ? 'is not set' : 'is not a secret'}: set it to whsec_ and 24 to 64 random bytes in base64, for example whsec_$(openssl rand -base64 32)`,
  );
};

const post = async (
  url: string,
  headers: Record<string, string>,
  body: string,
  timeout: number,
  deps: SinkDeps,
): Promise<void> => {
  const asked = { method: 'POST', headers, body, redirect: 'manual', signal: AbortSignal.timeout(timeout) } as const;
  const shown = shownOf(url);
  const response = await fetch(url, asked).catch((error: unknown) => {
    throw new TryLater(`${shown} cannot be reached: ${reasonOf(error)}`);
  });
  await response.body?.cancel().catch(() => {});
  const { status } = response;
  if (response.ok) return;
  if (status === 408 || status === 425 || status === 429 || status >= 500)
    throw new TryLater(`${shown} answered ${status}`, retryAfter(response.headers.get('retry-after'), deps.now()));
  throw new Undeliverable(`${shown} answered ${status}: ${REMEDIES[status] ?? 'see why its receiver refuses it'}`);
};

/** The path of some receivers is a secret: alerts, logs and dead letters show only the host. */
const shownOf = (url: string): string => {
  const { origin, pathname, search } = new URL(url);
  return pathname === '/' && search === '' ? origin : `${origin}/…`;
};

const REMEDIES: Readonly<Record<number, string>> = {
  301: 'write the address that it has moved to',
  308: 'write the address that it has moved to',
  401: 'give both sides the same secret',
  403: 'give both sides the same secret',
  404: 'correct the address',
  410: 'the receiver is gone: remove the channel',
};

const reasonOf = (error: unknown): string => {
  const { name, message, cause } = error as Error;
  if (name === 'TimeoutError') return 'no answer in time';
  return cause instanceof Error ? cause.message : message;
};

/** The longest pause that a receiver may request, so that its mistake does not block its alerts for good. */
const LONGEST_REQUESTED_MS = 3_600_000;

/** The wait that a Retry-After header asks for, in seconds or as a date; null: none that can be read. */
export const retryAfter = (header: string | null, now: number): number | null => {
  if (header === null) return null;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), LONGEST_REQUESTED_MS);
};
