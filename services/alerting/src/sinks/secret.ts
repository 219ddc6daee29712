import { readFileSync } from 'node:fs';
import { Refused } from '@vigil/chassis';
import { z } from 'zod';
import type { SinkDeps } from '../delivery/sink.ts';

/** Where a channel has its secret. The file of channels itself has none. */
type Source = { readonly env?: string | undefined; readonly file?: string | undefined };

/** The two settings of a secret: the name of an environment variable, or of a file that holds it. */
export const variable = z.string().min(1, 'name the environment variable that holds it').optional();
export const secretFile = z.string().min(1, 'name the file that holds it').optional();

/** A secret of a channel, without white space around it. Throws Refused with what to set; never shows a secret. */
export const secretOf = (
  channel: string,
  setting: string,
  { env, file }: Source,
  deps: Pick<SinkDeps, 'env'>,
  what: string,
): string => {
  const at = `channels.${channel}`;
  if ((env === undefined) === (file === undefined))
    throw new Refused(`${at}: write ${setting}_env or ${setting}_file, one of the two: where ${what} is`);
  const secret = env === undefined ? contentOf(`${at}.${setting}_file`, file ?? '') : (deps.env[env] ?? '');
  if (secret.trim() !== '') return secret.trim();
  throw new Refused(
    env === undefined
      ? `${at}.${setting}_file: ${file} is empty: write ${what} into it`
      : `${at}.${setting}_env: ${env} is not set: set it to ${what}`,
  );
};

const contentOf = (at: string, file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Refused(`${at}: ${file} cannot be read: ${(error as Error).message}`);
  }
};
