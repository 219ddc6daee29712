import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { OrderReceiptPayload } from '@vigil/events';
import type { AskAtStop } from '@vigil/health/proof';
import type { Environment, ReportedAgents, SentHeartbeat } from '../session/agents.ts';
import { type Fold, newFold } from '../session/fold.ts';
import type { Marks } from '../session/transcript.ts';
import { makeFolder, spoolFile } from './spool.ts';

/**
 * Writes the whole file atomically, so that concurrent readers and writers never see a part. Throws if the disk
 * accepts nothing.
 */
export const replace = (path: string, text: string): void => {
  const fresh = `${path}.${process.pid}`;
  writeFileSync(fresh, text, { mode: 0o600 });
  renameSync(fresh, path);
};

/** What the hooks of one session remember from one to the next, where no supervisor runs. Plain JSON. */
export type Kept = {
  /** bytes of the spool that all the rest has taken in */
  readonly offset: number;
  readonly fold: Fold;
  /** of the newest records whose call is refused, by their ids: the hook of such a record may not have answered yet */
  readonly refusals: Readonly<Record<string, string>>;
  /** why a spending limit allows no more calls, from the gateway's newest answer; null: it allows them */
  readonly limit: string | null;
  /** what is asked at the end of a turn, from the gateway's newest answer; null: nothing */
  readonly askAtStop: AskAtStop | null;
  readonly agents: ReportedAgents;
  readonly transcripts: Marks;
  /** heartbeats on their way, unchanged until they are answered */
  readonly unsent: readonly SentHeartbeat[];
  readonly receipts: readonly OrderReceiptPayload[];
  /** texts that a hook is about to print; where a later hook finds them, it is unknown whether they were printed */
  readonly passing: readonly OrderReceiptPayload[];
  /** orders that are answered, newest last */
  readonly done: readonly string[];
  /** the gateway has not answered: it is not asked before. Epoch milliseconds */
  readonly awayUntil: number;
};

const nothingKept: Kept = {
  offset: 0,
  fold: newFold,
  refusals: {},
  limit: null,
  askAtStop: null,
  agents: {},
  transcripts: {},
  unsent: [],
  receipts: [],
  passing: [],
  done: [],
  awayUntil: 0,
};

/** A hook that holds a session for longer is dead. Milliseconds. */
const DEAD_MS = 10_000;
const FORGOTTEN_MS = 7 * 86_400_000;

/** The files of one session. Hooks run concurrently: each appends to the spool, and one at a time sends its content. */
export type Folder = {
  readonly spool: string;
  /** false: another hook sends */
  readonly lock: () => boolean;
  readonly unlock: () => void;
  readonly read: () => Kept;
  readonly write: (kept: Kept) => void;
};

const isDone = (work: () => void): boolean => {
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

/** What cannot be read is as if nothing were kept: the spool is folded from its beginning. */
const keptIn = (path: string): Kept => {
  try {
    return { ...nothingKept, ...(JSON.parse(readFileSync(path, 'utf8')) as Partial<Kept>) };
  } catch {
    return nothingKept;
  }
};

const baseOf = (env: Environment): string =>
  join(env.VIGIL_STATE_DIR ?? join(env.HOME ?? homedir(), '.local', 'state', 'vigil'), 'hooks');

/** Removes the sessions that have reported nothing for a week. */
export const removeExpired = (env: Environment, now: number): void => {
  const base = baseOf(env);
  isDone(() => {
    for (const name of readdirSync(base))
      if (isOlder(join(base, name), FORGOTTEN_MS, now)) rmSync(join(base, name), { recursive: true, force: true });
  });
};

/** The folder of a session. Throws if the disk is full. */
export const openFolder = (client: string, session: string, env: Environment, now: () => number): Folder => {
  const dir = join(baseOf(env), spoolFile(client, session).replace('.jsonl', ''));
  const [lock, state] = [join(dir, 'lock'), join(dir, 'session.json')];
  makeFolder(dir);
  return {
    spool: join(dir, 'spool.jsonl'),
    lock: () => {
      if (isOlder(lock, DEAD_MS, now())) isDone(() => rmdirSync(lock));
      return isDone(() => mkdirSync(lock));
    },
    unlock: () => void isDone(() => rmdirSync(lock)),
    read: () => keptIn(state),
    write: (kept) => replace(state, JSON.stringify(kept)),
  };
};
