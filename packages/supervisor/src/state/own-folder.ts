import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { WrongSettings } from '../errors.ts';

/**
 * Makes a folder, of which we are the owner: in one that others may write to, somebody else may have been first.
 * @throws WrongSettings where it is somebody else's, or no folder
 */
export const makeFolder = (path: string, remedy: string): void => {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const found = lstatSync(path);
  if (!found.isDirectory() || found.uid !== process.getuid?.())
    throw new WrongSettings(`${path} is not a folder of this user: remove it, or ${remedy}`);
};

/** The same, that nobody else can look into. */
export const makeOwnFolder = (path: string, remedy: string): void => {
  makeFolder(path, remedy);
  chmodSync(path, 0o700);
};
