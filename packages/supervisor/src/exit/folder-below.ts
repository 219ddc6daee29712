import { closeSync, constants, mkdirSync, openSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import { WrongSettings } from '../errors.ts';

const isBelow = (root: string, path: string): boolean => path === root || path.startsWith(root + sep);

/** The real path of the part of this path that exists. */
const existing = (path: string): string => {
  try {
    return realpathSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error;
    return existing(dirname(path));
  }
};

/**
 * Makes a folder below `root`. Links in between may not lead out of it: an agent could have laid them.
 * @throws WrongSettings for such a link; errors of the file system
 */
export const makeBelow = (root: string, folder: string, mode?: number): void => {
  mkdirSync(root, { recursive: true, mode });
  const allowed = realpathSync(root);
  const check = () => {
    const found = existing(folder);
    if (!isBelow(allowed, found))
      throw new WrongSettings(`${folder} is a link that leads out of ${root}, to ${found}: remove the link`);
  };
  check();
  mkdirSync(folder, { recursive: true, mode });
  check();
};

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;

/** Adds to a file, which is made if there is none. @throws errors of the file system; ELOOP where the file is a link */
export const appendTo = (path: string, text: string): void => {
  const file = openSync(path, O_APPEND | O_CREAT | O_NOFOLLOW | O_WRONLY);
  try {
    writeFileSync(file, text);
  } finally {
    closeSync(file);
  }
};

/** Writes a new file; one that is there already stays, a link as well. @throws errors of the file system */
export const writeIfMissing = (path: string, text: string): void => {
  try {
    writeFileSync(path, text, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
};
