import { createHmac } from 'node:crypto';
import { httpUrl, Refused } from '@vigil/chassis';
import { duration } from '@vigil/policy';
import { z } from 'zod';
import { messageOf } from '../delivery/message.ts';
import { type AlertEvent, deliveringTo, type Kind } from '../delivery/sink.ts';
import { GONE, post, type Remedies } from './http.ts';
import { secretFile, secretOf, variable } from './secret.ts';

const settings = z.strictObject({
  kind: z.literal('webhook'),
  url: httpUrl('write the address that is posted to, such as https://orchestrator.example/vigil').refine(
    (url) => !URL.canParse(url) || new URL(url).username + new URL(url).password === '',
    'write no name and password into it: none are sent, and the signature authenticates the sender',
  ),
  secret_env: variable,
  secret_file: secretFile,
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
  open: (name, { url, secret_env, secret_file, timeout }, deps) => {
    const keys = keysOf(
      name,
      secret_env ?? secret_file ?? '',
      secretOf(name, 'secret', { env: secret_env, file: secret_file }, deps, SECRETS),
    );
    const deliver = async (alert: AlertEvent): Promise<void> => {
      const body = JSON.stringify(await messageOf(alert, name, deps));
      const headers = signed(keys, alert.eventId, deps.now(), body);
      await post({ url, headers, body, timeout, remedies: REMEDIES }, deps);
    };
    return { ...deliveringTo(name, deliver), updatesInPlace: true };
  },
};

const SECRETS = 'whsec_ and 24 to 64 random bytes in base64, for example whsec_$(openssl rand -base64 32)';

/** One secret, or two with a space between them while they are being exchanged. */
const keysOf = (name: string, source: string, secrets: string): readonly Buffer[] => {
  const keys = secrets.split(/\s+/).map(keyOf);
  const known = keys.filter((key) => key !== null);
  if (known.length > 0 && known.length === keys.length) return known;
  throw new Refused(`channels.${name}: ${source} is not a secret: set it to ${SECRETS}`);
};

const REMEDIES: Remedies = {
  ...GONE,
  401: 'give both sides the same secret',
  403: 'give both sides the same secret',
};
