import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { Refusal } from './errors.ts';

/** The file that a path leads to, over links. Throws if a link leads to no file: the write would replace the link. */
const targetOf = (file: string): string => {
  if (existsSync(file)) return realpathSync(file);
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new Error(`it is a link to ${readlinkSync(file)}, which does not exist; create that file first`);
  return file;
};

/** Writes the file atomically; of a link its target. Throws Refusal. */
export const replaceFile = (file: string, text: string): void => {
  try {
    mkdirSync(dirname(file), { recursive: true });
    const target = targetOf(file);
    const fresh = `${target}.${process.pid}.new`;
    // A file with secrets in it is at no moment readable by others.
    const mode = statSync(target, { throwIfNoEntry: false })?.mode;
    writeFileSync(fresh, text, { mode });
    if (mode !== undefined) chmodSync(fresh, mode);
    renameSync(fresh, target);
  } catch (error) {
    throw new Refusal(`${file} is not changed: it cannot be written (${(error as Error).message}).`);
  }
};
