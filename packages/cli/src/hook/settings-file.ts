import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
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
