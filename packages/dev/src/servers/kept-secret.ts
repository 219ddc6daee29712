import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** 43 characters that need no quotes in a URL, a shell and a properties file. */
export const freshSecret = (): string => randomBytes(32).toString('base64url');

export const secretFile = (dir: string, name: string): string => path.join(dir, 'secrets', name);

export const isKept = (dir: string, name: string): boolean => existsSync(secretFile(dir, name));

/** The secret with that name in a folder, created on the first call. Only its owner may read it. */
export const keptSecret = (dir: string, name: string): string => {
  const file = secretFile(dir, name);
  if (existsSync(file)) return readFileSync(file, 'utf8');
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const secret = freshSecret();
  writeFileSync(file, secret, { mode: 0o600, flag: 'wx' });
  return secret;
};

/**
 * A folder that other users of this machine cannot list or read. Root runs Postgres under a separate account, which
 * must traverse the folder to its data. Then others may traverse the folder, but not list it.
 */
export const makePrivateFolder = (dir: string): void => {
  mkdirSync(dir, { recursive: true });
  chmodSync(dir, process.getuid?.() === 0 ? 0o711 : 0o700);
};

/** Makes files that this process and its children write readable for their user only. */
export const keepFilesPrivate = (): void => {
  process.umask(0o077);
};
