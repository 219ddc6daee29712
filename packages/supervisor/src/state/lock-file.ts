import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { WrongSettings } from '../errors.ts';
import { ifKnown, isAlive } from '../process/proc.ts';
import { removeIfPossible } from './own-folder.ts';

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

const textOf = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null;
    throw error;
  }
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** The content of this lock file; null: there is none. @throws WrongSettings where it contains something else */
export const readLockFile = <T>(path: string, isOne: (found: object) => found is T & object): T | null => {
  const text = textOf(path);
  if (text === null) return null;
  const found = parsed(text);
  if (typeof found === 'object' && found !== null && isOne(found)) return found;
  throw new WrongSettings(
    `${path} is not a Vigil lock file: remove it once you are sure that no agent runs under its name`,
  );
};

const draftOf = (path: string, content: object): string => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  try {
    writeFileSync(draft, JSON.stringify(content), { flush: true, mode: 0o600 });
  } catch (error) {
    removeIfPossible(draft);
    throw error;
  }
  return draft;
};

const DRAFT = /\.lock\.(\d+)(\.dead)?$/;

const writerOf = (name: string): number | null => {
  const pid = DRAFT.exec(name)?.[1];
  return pid === undefined ? null : Number(pid);
};

/** Removes what processes that died while they wrote a lock file have left in this folder. */
export const removeDrafts = (folder: string): void => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(folder)) {
    const pid = writerOf(name);
    if (pid !== null && !ifKnown(() => isAlive({ pid, startTime: null }), true)) removeIfPossible(join(folder, name));
  }
};

/** Linking fails where the name is taken, so of two that try at once only one wins. */
const link = (from: string, path: string): boolean => {
  try {
    linkSync(from, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(from);
  }
};

/** Removes the lock file of a dead process; a lock that another process has taken meanwhile is put back. */
const sweep = (path: string, dead: object): void => {
  const aside = `${path}.${process.pid}.dead`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  if (textOf(aside) === JSON.stringify(dead)) rmSync(aside);
  else link(aside, path);
};

/** Takes a lock file that does not exist, or that `dead` has left. False: another process was first. */
export const createLockFile = (path: string, content: object, dead: object | null): boolean => {
  const draft = draftOf(path, content);
  if (dead !== null) sweep(path, dead);
  return link(draft, path);
};

/** Replaces the content of one's own lock file. */
export const replaceLockFile = (path: string, content: object): void => renameSync(draftOf(path, content), path);
