import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { WrongSettings } from '../errors.ts';

/**
 * Makes a folder that this user owns: in a folder that others may write to, another user may have been first.
 * @throws WrongSettings where another user owns it, or it is not a folder
 */
export const makeFolder = (path: string, remedy: string): void => {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const found = lstatSync(path);
  if (!found.isDirectory() || found.uid !== process.getuid?.())
    throw new WrongSettings(`${path} is not a folder of this user: remove it, or ${remedy}`);
};

/** The same, closed to all other users. */
export const makeOwnFolder = (path: string, remedy: string): void => {
  makeFolder(path, remedy);
  chmodSync(path, 0o700);
};
