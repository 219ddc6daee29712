import { createHmac } from 'node:crypto';

/** What a secret of the Standard Webhooks specification looks like: 24 to 64 bytes, in base64. */
const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;

/** The key in a secret; null: it is not a secret. */
export function keyOf(secret: string): Buffer | null {
  const key = Buffer.from(SECRET.exec(secret)?.[1] ?? '', 'base64');
  return key.length >= 24 && key.length <= 64 ? key : null;
}

/**
 * The headers that authenticate a body and its time (standardwebhooks.com): one signature for each key, so that keys
 * can be changed without a gap.
 */
export function signed(keys: readonly Buffer[], id: string, at: number, body: string): Record<string, string> {
  const seconds = Math.floor(at / 1000);
  const signature = (key: Buffer) =>
    `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`;
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': keys.map(signature).join(' '),
  };
}
