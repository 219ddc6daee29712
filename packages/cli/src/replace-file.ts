import { chmodSync, existsSync, mkdirSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Refusal } from './errors.ts';

/** All of it or nothing; where the file is a link, what it leads to. Throws Refusal. */
export const replaceFile = (file: string, text: string): void => {
  try {
    mkdirSync(dirname(file), { recursive: true });
    const target = existsSync(file) ? realpathSync(file) : file;
    const fresh = `${target}.${process.pid}.new`;
    writeFileSync(fresh, text);
    if (existsSync(target)) chmodSync(fresh, statSync(target).mode);
    renameSync(fresh, target);
  } catch (error) {
    throw new Refusal(`${file} is not changed: it cannot be written (${(error as Error).message}).`);
  }
};
