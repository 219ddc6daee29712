import { readFileSync } from 'node:fs';
import { CannotProceed } from './errors.ts';

/** Throws CannotProceed where the file cannot be read. Node's error does not name a directory. */
export const textOf = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CannotProceed(
      `${file} cannot be read (${(error as NodeJS.ErrnoException).code}): give a file that exists.`,
    );
  }
};
