import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Refusal } from '../errors.ts';

/** Where Claude Code keeps the settings of a project, and those of its user. */
export const settingsFile = (whose: 'project' | 'user', cwd: string, env: NodeJS.ProcessEnv): string =>
  whose === 'project'
    ? join(cwd, '.claude', 'settings.json')
    : join(env.CLAUDE_CONFIG_DIR ?? join(homedir(), '.claude'), 'settings.json');

/** Empty where there is none yet. Throws Refusal. */
export const readSettings = (file: string): string => {
  try {
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  } catch (error) {
    throw new Refusal(`${file} is not changed: it cannot be read (${(error as Error).message}).`);
  }
};

/** All of it or nothing; where the file is a link, what it leads to. Throws Refusal. */
export const writeSettings = (file: string, text: string): void => {
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
