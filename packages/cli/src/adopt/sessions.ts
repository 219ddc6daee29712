import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type Adapter, adapters, type Invocation } from '@vigil/adapters';

/** A session of a coding agent that runs on this host. */
export type RunningSession = {
  readonly pid: number;
  readonly adapter: Adapter;
  readonly invocation: Invocation;
  /** its folder; null: it cannot be read */
  readonly cwd: string | null;
  /** epoch milliseconds, at most a second too early; null: it cannot be read */
  readonly startedAt: number | null;
  readonly env: Readonly<Record<string, string>>;
};

/** Clock ticks of a second in /proc, on each platform that Node runs on. */
const TICKS = 100;

const read = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
};

const folderOf = (path: string): string | null => {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
};

/** A script follows its interpreter. */
const startsWith = (words: readonly string[]): readonly (readonly string[])[] => [words, words.slice(1)];

const clientOf = (words: readonly string[]): Pick<RunningSession, 'adapter' | 'invocation'> | null => {
  for (const adapter of adapters)
    for (const [command, ...args] of startsWith(words)) {
      const invocation = command === undefined ? null : adapter.invocation({ command, args });
      if (invocation !== null) return { adapter, invocation };
    }
  return null;
};

const environmentIn = (text: string): RunningSession['env'] =>
  Object.fromEntries(
    text
      .split('\0')
      .map((variable) => [variable.slice(0, variable.indexOf('=')), variable.slice(variable.indexOf('=') + 1)]),
  );

/** The fields after the command's name. The name is in brackets and may hold anything (proc(5)). */
const statOf = (proc: string, pid: number): readonly string[] => {
  const stat = read(join(proc, String(pid), 'stat')) ?? '';
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
};

const startOf = (proc: string, pid: number): number | null => {
  const boot = /^btime (\d+)$/m.exec(read(join(proc, 'stat')) ?? '')?.[1];
  const ticks = statOf(proc, pid)[19];
  return boot === undefined || ticks === undefined ? null : (Number(boot) + Number(ticks) / TICKS) * 1000;
};

const sessionOf = (proc: string, pid: number): RunningSession | null => {
  const words = (read(join(proc, String(pid), 'cmdline')) ?? '').split('\0').slice(0, -1);
  const client = clientOf(words);
  if (client === null) return null;
  return {
    ...client,
    pid,
    cwd: folderOf(join(proc, String(pid), 'cwd')),
    startedAt: startOf(proc, pid),
    env: environmentIn(read(join(proc, String(pid), 'environ')) ?? ''),
  };
};

/**
 * Sessions that run on this host, as far as its process table shows them; one entry for a client and the processes below it.
 * Null: the system has no process table that can be read, so none is known.
 */
export const runningSessions = (proc = '/proc'): readonly RunningSession[] | null => {
  let names: readonly string[];
  try {
    names = readdirSync(proc);
  } catch {
    return null;
  }
  const found = names
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => sessionOf(proc, Number(name)) ?? [])
    .sort((one, other) => one.pid - other.pid);
  const pids = new Set(found.map(({ pid }) => pid));
  return found.filter(({ pid }) => !pids.has(Number(statOf(proc, pid)[1] ?? 0)));
};
