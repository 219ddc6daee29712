import { existsSync, lstatSync, readFileSync, realpathSync, rmdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { Refusal } from '../errors.ts';
import { replaceFile } from '../replace-file.ts';

/**
 * The file's content before an installation that made it an object. While the hook is installed, the number of
 * trailing newlines encodes it.
 */
const marks = {
  /** there was no file */
  file: '{}\n\n',
  /** there was no folder either */
  folder: '{}\n\n\n',
  /** there was a file with nothing but white space, which follows */
  blank: '{}\n\n\n\n',
} as const;

/** The text that an installation starts with: the file's own, unless it is empty. Throws Refusal. */
export const readSettings = (file: string): string => {
  try {
    if (!existsSync(file)) return existsSync(dirname(file)) ? marks.file : marks.folder;
    const text = readFileSync(file, 'utf8');
    return text.trim() === '' ? marks.blank + text : text;
  } catch (error) {
    throw new Refusal(`${file} is not changed: it cannot be read (${(error as Error).message}).`);
  }
};

const remove = (file: string): void => {
  try {
    rmSync(lstatSync(file).isSymbolicLink() ? realpathSync(file) : file);
  } catch (error) {
    throw new Refusal(`${file} is not removed (${(error as Error).message}).`);
  }
};

/** Writes the file without the hook: the file and its folder are as before the installation. Throws Refusal. */
export const restoreSettings = (file: string, text: string): void => {
  if (text !== marks.file && text !== marks.folder) {
    replaceFile(file, text.startsWith(marks.blank) ? text.slice(marks.blank.length) : text);
    return;
  }
  remove(file);
  if (text === marks.file) return;
  try {
    rmdirSync(dirname(file));
  } catch {
    // Something else is in it since.
  }
};
