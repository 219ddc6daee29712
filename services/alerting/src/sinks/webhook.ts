import { createHmac } from 'node:crypto';
import { KIND_SETTINGS, SECRETS, webhookKeys } from '@vigil/policy/channels';
import { messageOf } from '../delivery/message.ts';
import { type AlertEvent, deliveringTo, type Kind } from '../delivery/sink.ts';
import { GONE, post, type Remedies } from './http.ts';
import { secretOf } from './secret.ts';

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
export const webhook: Kind<'webhook'> = {
  settings: KIND_SETTINGS.webhook,
  open: (name, channel, deps) => {
    const { url, timeout } = channel;
    const keys = webhookKeys(secretOf(name, 'secret', SECRETS.webhook.secret, channel, deps)) ?? [];
    const deliver = async (alert: AlertEvent): Promise<void> => {
      const body = JSON.stringify(await messageOf(alert, name, deps));
      const headers = signed(keys, alert.eventId, deps.now(), body);
      await post({ url, headers, body, timeout, remedies: REMEDIES }, deps);
    };
    return { ...deliveringTo(name, deliver), updatesInPlace: true };
  },
};

const REMEDIES: Remedies = {
  ...GONE,
  401: 'give both sides the same secret',
  403: 'give both sides the same secret',
};
