// Generated from packages/sdk/src/hook/session.ts by `npm run generate`: for Node 18, which reads no TypeScript.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { noProgress,               } from '../progress.mjs';
import {                   breakerFile } from './breaker-file.mjs';
import { replace } from './replace.mjs';
/** What the hooks of one session remember from one to the next. */
const newSession          = {
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
const tried = (work            )          => {
  try {
    work();
    return true;
  } catch {
    return false;
  }
};
const isOlder = (path        , ms        , now        )          => {
  try {
    return statSync(path).mtimeMs < now - ms;
  } catch {
    return false;
  }
};
/** What cannot be read says nothing. */
const readJson =    (path        , otherwise   )    => {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))     ;
  } catch {
    return otherwise;
  }
};
const baseOf = (env             )         =>
  join(env.VIGIL_STATE_DIR ?? join(env.HOME ?? homedir(), '.local', 'state', 'vigil'), 'hooks');
/** Sessions that nobody has heard of for a week. */
export const forgetOld = (env             , now        )       => {
  const base = baseOf(env);
  tried(() => {
    for (const name of readdirSync(base))
      if (isOlder(join(base, name), FORGOTTEN_MS, now)) rmSync(join(base, name), { recursive: true, force: true });
  });
};
/** mkdirSync's own `recursive` never ends where the file system takes no folder, as /proc does not. Throws there. */
const makeFolder = (path        , parentIsThere = false)       => {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error                         ;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || parentIsThere) throw error;
    makeFolder(dirname(path));
    makeFolder(path, true);
  }
};
/** `order`: rising from hook to hook of a session. Throws where the disk takes nothing. */
export const openFolder = (sessionId        , env             , order        )         => {
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
          const words = readJson      (join(said, name), {});
          rmSync(join(said, name), { force: true });
          return words;
        }),
    isEmpty: () => left().length === 0,
    lock: () => {
      if (isOlder(lock, DEAD_MS, Date.now())) tried(() => rmdirSync(lock));
      return tried(() => mkdirSync(lock));
    },
    unlock: () => void tried(() => rmdirSync(lock)),
    read: () => ({ ...newSession, ...readJson                  (state, {}) }),
    write: (session) => replace(state, JSON.stringify(session)),
    breakers: breakerFile(join(dir, 'breakers.jsonl')),
  };
};
