import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';

/** Where a token comes from. A file is read again when it changes. */
export type TokenSource =
  | { readonly kind: 'text'; readonly token: string }
  | { readonly kind: 'file'; readonly path: string };

export type TokenDeps = {
  /** epoch milliseconds */
  readonly now: () => number;
  /** exchanges a token for one that is valid longer */
  readonly renew: (token: string) => Promise<string>;
  readonly onProblem: (problem: string) => void;
};

/** `token` @throws Error if its file cannot be read, or if others may read it */
export type RenewingToken = { readonly token: string };

/** A token is renewed after this part of its time. The gateway makes it valid longer from the half on. */
const RENEWED_AFTER = 2 / 3;
const READ_EVERY_MS = 1000;
const FIRST_RETRY_MS = 60_000;
const LONGEST_RETRY_MS = 3_600_000;
/** Writing by the group, and anything by others. Kubernetes lets a group read its secrets. */
const OPEN_TO_OTHERS = 0o027;

type Validity = { readonly from: number; readonly until: number };

/** The times in a JWT, epoch milliseconds; null: the token is none, and does not expire. */
const validityOf = (token: string): Validity | null => {
  try {
    const { iat, exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    return Number.isFinite(iat) && Number.isFinite(exp) ? { from: iat * 1000, until: exp * 1000 } : null;
  } catch {
    return null;
  }
};

const versionOf = (path: string): string => {
  const { mode, mtimeMs, size, ino } = statSync(path);
  if ((mode & OPEN_TO_OTHERS) !== 0)
    throw new Error(`other users may read or change the token in ${path}: chmod 600 ${path}`);
  return `${mtimeMs} ${size} ${ino}`;
};

const read = (path: string): string => {
  const token = readFileSync(path, 'utf8').trim();
  if (token === '') throw new Error(`the token file ${path} is empty`);
  return token;
};

/** As a whole, so that no reader finds half a token, and only into a file of its own, which no other user can have open. */
const replace = (path: string, token: string): void => {
  const next = `${path}.${process.pid}.new`;
  try {
    writeFileSync(next, `${token}\n`, { flag: 'wx', mode: 0o600 });
    renameSync(next, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw new Error(`${next} exists already; remove it`);
    rmSync(next, { force: true });
    throw error;
  }
};

/**
 * A token that is renewed while it is used, after two thirds of its time. If it comes from a file, the renewed one is
 * written there. A failed renewal is reported once, and repeated with back-off; the present token stays in use. So it
 * does if its file can no longer be read.
 */
export const renewingToken = (source: TokenSource, { now, renew, onProblem }: TokenDeps): RenewingToken => {
  let token = source.kind === 'text' ? source.token : '';
  let validity = validityOf(token);
  let version = '';
  let readAt = Number.NEGATIVE_INFINITY;
  let renewsFrom = 0;
  let retryMs = FIRST_RETRY_MS;
  let isRenewing = false;
  /** why the file cannot be read, as reported; null: it can */
  let unreadable: string | null = null;

  const use = (next: string): void => {
    token = next;
    validity = validityOf(next);
    renewsFrom = 0;
    retryMs = FIRST_RETRY_MS;
  };

  const readIfChanged = (path: string): void => {
    const found = versionOf(path);
    if (found !== version) use(read(path));
    version = found;
  };

  const refresh = (path: string): void => {
    if (now() < readAt + READ_EVERY_MS && token !== '') return;
    try {
      readIfChanged(path);
      unreadable = null;
    } catch (error) {
      const { message } = error as Error;
      if (token === '') throw error;
      if (unreadable !== message) onProblem(`the token of before is used: ${message}`);
      unreadable = message;
    }
    readAt = now();
  };

  const keep = (next: string): void => {
    use(next);
    if (source.kind !== 'file') return;
    try {
      replace(source.path, next);
      version = versionOf(source.path);
    } catch (error) {
      onProblem(`the renewed token is used, and could not be written to ${source.path}: ${(error as Error).message}`);
    }
  };

  const failed = (error: Error): void => {
    if (retryMs === FIRST_RETRY_MS)
      onProblem(`the token could not be renewed, and is used until it expires: ${error.message}`);
    renewsFrom = now() + retryMs;
    retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS);
  };

  const renewIfDue = (): void => {
    if (validity === null || isRenewing || now() < renewsFrom) return;
    if (now() < validity.from + (validity.until - validity.from) * RENEWED_AFTER) return;
    isRenewing = true;
    void renew(token)
      .then(keep, failed)
      .finally(() => {
        isRenewing = false;
      });
  };

  return {
    get token() {
      if (source.kind === 'file') refresh(source.path);
      renewIfDue();
      return token;
    },
  };
};
