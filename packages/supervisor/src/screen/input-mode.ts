import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Pid } from '../process/proc.ts';

/** The settings of a terminal. `canonical`: input is read line by line. `opost`: output is processed. */
export type InputMode = { readonly canonical: boolean; readonly echo: boolean; readonly opost: boolean };

const run = promisify(execFile);
/** A terminal whose program is stopped answers too; what takes longer is broken. Milliseconds. */
const LIMIT_MS = 5000;

/** Majors of the pseudo-terminals of Unix98 on Linux; each has 256 minors. */
const FIRST_MAJOR = 136;
const LAST_MAJOR = 143;

/** The device of a controlling terminal as stat(5) of /proc numbers it; null: none, or no pseudo-terminal. */
export const deviceOf = (number: number): string | null => {
  const major = (number >> 8) & 0xfff;
  const minor = (number & 0xff) | ((number >> 12) & 0xfff00);
  return major >= FIRST_MAJOR && major <= LAST_MAJOR ? `/dev/pts/${(major - FIRST_MAJOR) * 256 + minor}` : null;
};

const terminalOf = async ({ pid }: Pid): Promise<string | null> => {
  if (process.platform === 'linux') {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return deviceOf(Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[4]));
  }
  const { stdout } = await run('ps', ['-o', 'tty=', '-p', String(pid)], { timeout: LIMIT_MS });
  const name = stdout.trim();
  return name === '' || name.startsWith('?') ? null : `/dev/${name}`;
};

/** The output of `stty -a`; null: it does not contain the mode. */
export const modeIn = (settings: string): InputMode | null => {
  const words = new Set(settings.split(/[\s;]+/));
  const isSet = (name: string): boolean | null => (words.has(name) ? true : words.has(`-${name}`) ? false : null);
  const [canonical, echo, opost] = [isSet('icanon'), isSet('echo'), isSet('opost')];
  return canonical === null || echo === null || opost === null ? null : { canonical, echo, opost };
};

/** The mode of the terminal that this process has for its own; null: not known, for instance because the process has ended. */
export const readInputMode = async (leader: Pid): Promise<InputMode | null> => {
  try {
    const device = await terminalOf(leader);
    if (device === null) return null;
    const option = process.platform === 'linux' ? '-F' : '-f';
    const { stdout } = await run('stty', [option, device, '-a'], {
      timeout: LIMIT_MS,
      env: { ...process.env, LC_ALL: 'C' },
    });
    return modeIn(stdout);
  } catch {
    return null;
  }
};
