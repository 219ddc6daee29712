import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Heartbeat, OrderReceiptPayload } from '@vigil/events';
import { noProgress, type Progress } from '../progress.ts';
import { type BreakerFile, breakerFile } from './breaker-file.ts';
import type { Environment } from './call.ts';
import { replace } from './replace.ts';
import type { Said } from './report.ts';

/** What the hooks of one session remember from one to the next. */
export type Session = {
  readonly sequence: number;
  readonly activity: Heartbeat['activity'];
  readonly phase: string;
  readonly lastCallAt: number | null;
  readonly errors: number;
  /** what no answer has come to yet, oldest first */
  readonly unsent: readonly Heartbeat[];
  readonly receipts: readonly OrderReceiptPayload[];
  /** texts that are being passed on: found by a later hook, nobody knows whether they were */
  readonly passing: readonly OrderReceiptPayload[];
  /** orders that are answered, newest last */
  readonly done: readonly string[];
  /** the gateway has not answered: it is not asked before */
  readonly awayUntil: number;
  /** what of it may end a finding about this session */
  readonly progress: Progress;
};

const newSession: Session = {
  sequence: 0,
  activity: null,
  phase: 'session',
  lastCallAt: null,
  errors: 0,
  unsent: [],
  receipts: [],
  passing: [],
  done: [],
  awayUntil: 0,
  progress: noProgress,
};

/** A hook that holds a session for longer is dead. Milliseconds. */
const DEAD_MS = 10_000;
const FORGOTTEN_MS = 7 * 86_400_000;

/** One session's folder. Hooks run beside each other: each leaves what it has to say, and one at a time sends it. */
export type Folder = {
  readonly leave: (said: Said) => void;
  /** what was left, oldest first; it is gone from the folder */
  readonly collect: () => readonly Said[];
  readonly isEmpty: () => boolean;
  /** false: another hook is at it, and will see what was left */
  readonly lock: () => boolean;
  readonly unlock: () => void;
  readonly read: () => Session;
  readonly write: (session: Session) => void;
  readonly breakers: BreakerFile;
};

const tried = (work: () => void): boolean => {
  try {
    work();
    return true;
  } catch {
    return false;
  }
};

const isOlder = (path: string, ms: number, now: number): boolean => {
  try {
    return statSync(path).mtimeMs < now - ms;
  } catch {
    return false;
  }
};

/** What cannot be read says nothing. */
const readJson = <T>(path: string, otherwise: T): T => {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T;
  } catch {
    return otherwise;
  }
};

const baseOf = (env: Environment): string =>
  join(env.VIGIL_STATE_DIR ?? join(env.HOME ?? homedir(), '.local', 'state', 'vigil'), 'hooks');

/** Sessions that nobody has heard of for a week. */
export const forgetOld = (env: Environment, now: number): void => {
  const base = baseOf(env);
  tried(() => {
    for (const name of readdirSync(base))
      if (isOlder(join(base, name), FORGOTTEN_MS, now)) rmSync(join(base, name), { recursive: true, force: true });
  });
};

/** mkdirSync's own `recursive` never ends where the file system takes no folder, as /proc does not. Throws there. */
const makeFolder = (path: string, parentIsThere = false): void => {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || parentIsThere) throw error;
    makeFolder(dirname(path));
    makeFolder(path, true);
  }
};

/** `order`: rising from hook to hook of a session. Throws where the disk takes nothing. */
export const openFolder = (sessionId: string, env: Environment, order: bigint): Folder => {
  const dir = join(baseOf(env), createHash('sha256').update(sessionId).digest('hex').slice(0, 32));
  const [said, lock, state] = [join(dir, 'said'), join(dir, 'lock'), join(dir, 'session.json')];
  makeFolder(said);
  const left = () => readdirSync(said).filter((name) => name.endsWith('.json'));
  return {
    leave: (words) =>
      replace(join(said, `${String(order).padStart(24, '0')}-${process.pid}.json`), JSON.stringify(words)),
    collect: () =>
      left()
        .sort()
        .map((name) => {
          const words = readJson<Said>(join(said, name), {});
          rmSync(join(said, name), { force: true });
          return words;
        }),
    isEmpty: () => left().length === 0,
    lock: () => {
      if (isOlder(lock, DEAD_MS, Date.now())) tried(() => rmdirSync(lock));
      return tried(() => mkdirSync(lock));
    },
    unlock: () => void tried(() => rmdirSync(lock)),
    read: () => ({ ...newSession, ...readJson<Partial<Session>>(state, {}) }),
    write: (session) => replace(state, JSON.stringify(session)),
    breakers: breakerFile(join(dir, 'breakers.jsonl')),
  };
};
