import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startOf } from './process-identity.ts';

const folder = (dir: string): string => path.join(dir, 'run');
export const fileOf = (dir: string, name: string): string => path.join(folder(dir), `${name}.pid`);

/** Stores a process's id beyond the end of the process that started it. */
export const writePid = (dir: string, name: string, pid: number): void => {
  mkdirSync(folder(dir), { recursive: true });
  writeFileSync(fileOf(dir, name), `${pid} ${startOf(pid) ?? ''}`);
};

export const forgetPid = (dir: string, name: string): void => rmSync(fileOf(dir, name), { force: true });

/** The running process of that name; null when there is none, or when its number belongs to another process by now. */
export const livingPid = (dir: string, name: string): number | null => {
  try {
    const [pid = '', ...start] = readFileSync(fileOf(dir, name), 'utf8').split(' ');
    return startOf(Number(pid)) === start.join(' ') ? Number(pid) : null;
  } catch {
    return null;
  }
};

/** Names of the living processes of a folder. */
export const livingNames = (dir: string): readonly string[] => {
  try {
    const names = readdirSync(folder(dir)).map((file) => path.basename(file, '.pid'));
    return names.filter((name) => livingPid(dir, name) !== null);
  } catch {
    return [];
  }
};

export const sendSignal = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It ended by itself in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

const isGone = async (dir: string, name: string, pid: number, limitMs: number): Promise<boolean> => {
  const late = AbortSignal.timeout(limitMs);
  while (livingPid(dir, name) === pid) {
    if (late.aborted) return false;
    await sleep(20);
  }
  return true;
};

/** Ends a process, frozen or not: the signal first, SIGKILL after `limitMs`. `pid`: that one alone, where another may have taken the name by now. */
export const endProcess = async (
  dir: string,
  name: string,
  signal: NodeJS.Signals,
  limitMs = 20_000,
  pid: number | null = livingPid(dir, name),
): Promise<void> => {
  if (pid !== null && livingPid(dir, name) === pid) {
    sendSignal(pid, signal);
    sendSignal(pid, 'SIGCONT');
    if (!(await isGone(dir, name, pid, limitMs))) {
      sendSignal(pid, 'SIGKILL');
      await isGone(dir, name, pid, 5_000);
    }
  }
  if (livingPid(dir, name) === null) forgetPid(dir, name);
};
