import { Refused } from '@vigil/chassis';
import { findSecret, type Secret } from '@vigil/policy/channels';
import type { SinkDeps } from '../delivery/sink.ts';

type Settings = Readonly<Record<string, unknown>>;

/** An optional secret of a channel; null: it is left out. Throws Refused with what to set; never shows a secret. */
export const optionalSecretOf = (
  channel: string,
  setting: string,
  secret: Secret,
  settings: Settings,
  { env }: Pick<SinkDeps, 'env'>,
): string | null => {
  const found = findSecret(`channels.${channel}`, setting, secret, settings, env);
  if ('mistake' in found) throw new Refused(found.mistake);
  return found.secret;
};

/** A secret that its channel cannot do without. Throws as `optionalSecretOf`. */
export const secretOf = (...args: Parameters<typeof optionalSecretOf>): string => optionalSecretOf(...args) ?? '';
