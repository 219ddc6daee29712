import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { WrongSettings } from '../errors.ts';

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

const textOf = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
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
  writeFileSync(draft, JSON.stringify(content), { flush: true, mode: 0o600 });
  return draft;
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
