import { chmodSync, lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StateUnwritable, WrongSettings } from '../errors.ts';

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

/** For the rest of a write that failed: what is wrong with the disk is reported by that failure. */
export const removeIfPossible = (path: string): void => {
  try {
    rmSync(path, { force: true });
  } catch {
    // the disk may be gone
  }
};

const OTHERS_MAY_WRITE = 0o022;

/** Another user who may write there could replace a lock or the journal. */
const checkPrivate = (dir: string): void => {
  if ((lstatSync(dir).mode & OTHERS_MAY_WRITE) !== 0)
    throw new WrongSettings(
      `other users may write to the state folder ${dir}: run "chmod go-w ${dir}", or choose another --dir (VIGIL_STATE_DIR)`,
    );
};

/** Room for the locks, the journal and the first reports of an agent. */
const WANTED_BYTES = 1 << 16;

/**
 * Makes the folder for Vigil's state, and writes to it once: what fails there later would leave an agent without its lock.
 * @throws WrongSettings where another user owns it or may write to it; StateUnwritable
 */
export const openStateDir = (dir: string): void => {
  const probe = join(dir, `.room.${process.pid}`);
  try {
    makeFolder(dir, 'choose another --dir (VIGIL_STATE_DIR)');
    checkPrivate(dir);
    writeFileSync(probe, Buffer.alloc(WANTED_BYTES));
    rmSync(probe);
  } catch (error) {
    if (error instanceof WrongSettings) throw error;
    removeIfPossible(probe);
    throw new StateUnwritable(dir, error);
  }
};

/** The same, closed to all other users. */
export const makeOwnFolder = (path: string, remedy: string): void => {
  makeFolder(path, remedy);
  chmodSync(path, 0o700);
};
