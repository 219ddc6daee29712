import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const fromProc = (pid: number): string | null => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the name, which may contain spaces and brackets, so count from its end. State is field 3, start time field 22.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
};

const fromPs = (pid: number): string | null => {
  const { stdout } = spawnSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' });
  const [state = 'Z', ...start] = stdout.trim().split(/\s+/);
  return state.startsWith('Z') ? null : start.join(' ');
};

/** The start time of a process, so that a reused pid is detected; null once it is dead, reaped or not. */
export const startOf = (pid: number): string | null => (existsSync('/proc/self/stat') ? fromProc(pid) : fromPs(pid));

const folder = (dir: string): string => path.join(dir, 'run');
export const fileOf = (dir: string, name: string): string => path.join(folder(dir), `${name}.pid`);

/** Writes a pid file, which outlives the process that started it. */
export const writePid = (dir: string, name: string, pid: number): void => {
  mkdirSync(folder(dir), { recursive: true });
  writeFileSync(fileOf(dir, name), `${pid} ${startOf(pid) ?? ''}`);
};

export const forgetPid = (dir: string, name: string): void => rmSync(fileOf(dir, name), { force: true });

/** The running process that a pid file names; null if it has ended, or if another process has reused its pid. */
export const livingIn = (content: string): number | null => {
  const [pid = '', ...start] = content.split(' ');
  return startOf(Number(pid)) === start.join(' ') ? Number(pid) : null;
};

/** The running process with that name; null if there is none. */
export const livingPid = (dir: string, name: string): number | null => {
  try {
    return livingIn(readFileSync(fileOf(dir, name), 'utf8'));
  } catch {
    return null;
  }
};

/** A named process, with the files `<dir>/run/<name>.pid` and `<dir>/logs/<name>.log`. */
export type ProcessSpec = {
  readonly name: string;
  readonly dir: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** absent: this process's own */
  readonly env?: NodeJS.ProcessEnv;
  readonly user?: { readonly uid: number; readonly gid: number };
};

export const logFile = ({ dir, name }: Pick<ProcessSpec, 'dir' | 'name'>): string =>
  path.join(dir, 'logs', `${name}.log`);

export const lastLines = (text: string, count: number): string => text.trim().split('\n').slice(-count).join('\n');

/** Starts it; its output is appended to its log. */
export const launch = (spec: ProcessSpec): ChildProcess => {
  const { name, dir, command, args, cwd, env, user } = spec;
  mkdirSync(path.join(dir, 'logs'), { recursive: true });
  const output = openSync(logFile(spec), 'a');
  // Detached, because Ctrl-C goes to the terminal's whole group, and these processes must stop in order.
  const child = spawn(command, args, { cwd, env, ...user, detached: true, stdio: ['ignore', output, output] });
  closeSync(output);
  if (child.pid !== undefined) writePid(dir, name, child.pid);
  return child;
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
    // It has ended by itself in the meantime.
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

/**
 * Ends a process, frozen or not: with the signal, and with SIGKILL after `limitMs`. `pid`: ends only this process,
 * because another may have the name now.
 */
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
