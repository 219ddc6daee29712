import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const canRun = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** Whether a shell finds the program. `path`: the variable PATH. */
export const isOnPath = (binary: string, path: string | undefined): boolean =>
  (path ?? '').split(delimiter).some((dir) => dir !== '' && canRun(join(dir, binary)));
