import { existsSync, lstatSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Refusal } from '../errors.ts';
import { replaceFile } from '../replace-file.ts';

/** Where Claude Code keeps the settings of a project, and those of its user. */
export const settingsFile = (whose: 'project' | 'user', cwd: string, env: NodeJS.ProcessEnv): string =>
  whose === 'project'
    ? join(cwd, '.claude', 'settings.json')
    : join(env.CLAUDE_CONFIG_DIR ?? join(homedir(), '.claude'), 'settings.json');

/** What an install begins with where there is no file; Claude Code takes it as it takes none. */
export const NOTHING_SET = '{}\n';

/** Empty where there is none yet. Throws Refusal. */
export const readSettings = (file: string): string => {
  try {
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  } catch (error) {
    throw new Refusal(`${file} is not changed: it cannot be read (${(error as Error).message}).`);
  }
};

/** Writes what is left after the hook: where that is nothing, an install has made the file, and it goes with its empty folder. Throws Refusal. */
export const leaveSettings = (file: string, text: string): void => {
  if (text !== NOTHING_SET || lstatSync(file).isSymbolicLink()) {
    replaceFile(file, text);
    return;
  }
  try {
    rmSync(file);
  } catch (error) {
    throw new Refusal(`${file} is not removed (${(error as Error).message}).`);
  }
  try {
    rmdirSync(dirname(file));
  } catch {
    // Something else is in it, or it is not ours to remove.
  }
};
