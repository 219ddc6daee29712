import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { SinkKind } from './sink-kinds.ts';

/** The two settings of a secret: the name of an environment variable, or of a file that holds it. */
export const variable = z
  .string()
  .regex(/^[A-Za-z_]\w*$/, 'name the environment variable that holds it, and write no secret here')
  .optional();
export const secretFile = z.string().min(1, 'name the file that holds it').optional();

/** A secret of a channel. `what`: what it is; `form`: what it looks like, and whether it does. */
export type Secret = {
  readonly what: string;
  readonly isOptional: boolean;
  readonly form: { readonly name: string; readonly isOf: (secret: string) => boolean };
};

const ANY = { name: 'a secret', isOf: () => true };

const required = (what: string): Secret => ({ what, isOptional: false, form: ANY });
const optional = (what: string): Secret => ({ what, isOptional: true, form: ANY });

/** What a secret of the Standard Webhooks specification looks like: 24 to 64 bytes, in base64. */
const WEBHOOK_SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;

/** The keys of a webhook: one, or two with a space between them while they are being exchanged. null: it is not a secret. */
export const webhookKeys = (secrets: string): readonly Buffer[] | null => {
  const keys = secrets.split(/\s+/).map((one) => Buffer.from(WEBHOOK_SECRET.exec(one)?.[1] ?? '', 'base64'));
  return keys.every(({ length }) => length >= 24 && length <= 64) ? keys : null;
};

/** The secrets of each kind of channel, by the beginning of their settings. */
export const SECRETS = {
  slack: { token: required("the bot's token"), app_token: optional("the app's token") },
  slack_webhook: {
    url: {
      ...required('the address of an incoming webhook'),
      form: { name: 'an address', isOf: (url: string) => /^https?:\/\//.test(url) && URL.canParse(url) },
    },
  },
  ntfy: { token: optional('a token') },
  pagerduty: { routing_key: required('the integration key of a service') },
  alertmanager: { token: optional('a bearer token') },
  linear: { api_key: required('an API key of Linear') },
  webhook: {
    secret: {
      ...required('whsec_ and 24 to 64 random bytes in base64, for example whsec_$(openssl rand -base64 32)'),
      form: { name: 'a secret', isOf: (secrets: string) => webhookKeys(secrets) !== null },
    },
  },
  command: {},
  files: {},
} as const satisfies Readonly<Record<SinkKind, Readonly<Record<string, Secret>>>>;

type Settings = Readonly<Record<string, unknown>>;

/** Where a channel has its secrets. The file of channels itself has none. */
type Env = Readonly<Record<string, string | undefined>>;

/**
 * A secret without white space around it, null where an optional one is left out; or why it cannot be used, without the
 * secret. `isAway`: its variable or its file is not on this machine; another one may have it.
 */
export type FoundSecret = { readonly secret: string | null } | { readonly mistake: string; readonly isAway: boolean };

/** `at`: the channel, as in `channels.ops`; `setting`: as in `SECRETS`. */
export const findSecret = (
  at: string,
  setting: string,
  { what, isOptional, form }: Secret,
  settings: Settings,
  env: Env,
): FoundSecret => {
  const [variableName, file] = [settings[`${setting}_env`], settings[`${setting}_file`]];
  if (variableName === undefined && file === undefined && isOptional) return { secret: null };
  if ((variableName === undefined) === (file === undefined)) {
    const mistake = `${at}: write ${setting}_env or ${setting}_file, one of the two: where ${what} is`;
    return { mistake, isAway: false };
  }
  const read = variableName === undefined ? inFile(`${at}.${setting}_file`, String(file), what) : null;
  if (read !== null && 'mistake' in read) return read;
  const name = String(variableName ?? file);
  const secret = read === null ? (env[name] ?? '').trim() : read.secret;
  if (secret === '') return { mistake: `${at}.${setting}_env: ${name} is not set: set it to ${what}`, isAway: true };
  const place = `${at}.${setting}_${read === null ? 'env' : 'file'}`;
  if (form.isOf(secret)) return { secret };
  return { mistake: `${place}: ${name} is not ${form.name}: set it to ${what}`, isAway: false };
};

const inFile = (
  at: string,
  file: string,
  what: string,
): { readonly secret: string } | { readonly mistake: string; readonly isAway: boolean } => {
  try {
    const secret = readFileSync(file, 'utf8').trim();
    return secret === '' ? { mistake: `${at}: ${file} is empty: write ${what} into it`, isAway: false } : { secret };
  } catch (error) {
    return { mistake: `${at}: ${file} cannot be read: ${(error as Error).message}`, isAway: true };
  }
};
