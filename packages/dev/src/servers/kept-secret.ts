import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** 43 characters that a URL, a shell and a properties file take as they are. */
export const freshSecret = (): string => randomBytes(32).toString('base64url');

export const secretFile = (dir: string, name: string): string => path.join(dir, 'secrets', name);

export const isKept = (dir: string, name: string): boolean => existsSync(secretFile(dir, name));

/** The secret of that name in a folder, made at the first request. Only its owner may read it. */
export const keptSecret = (dir: string, name: string): string => {
  const file = secretFile(dir, name);
  if (existsSync(file)) return readFileSync(file, 'utf8');
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const secret = freshSecret();
  writeFileSync(file, secret, { mode: 0o600, flag: 'wx' });
  return secret;
};

/**
 * A folder that other users of this machine cannot list or read. Root runs Postgres under an account of its own, which
 * has to pass through the folder to its data: then others may pass, and still list nothing.
 */
export const makePrivateFolder = (dir: string): void => {
  mkdirSync(dir, { recursive: true });
  chmodSync(dir, process.getuid?.() === 0 ? 0o711 : 0o700);
};

/** What this process and those that it starts write from now on is for its user alone. */
export const keepFilesPrivate = (): void => {
  process.umask(0o077);
};
