import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Adapter, adapters, type Invocation } from '@vigil/adapters';
import type { AgentRow } from '@vigil/read-model';
import { Refusal } from '../errors.ts';
import { installed } from '../hook/settings.ts';
import { readSettings } from '../hook/settings-file.ts';

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

/** A hook in a settings file that a session reads. */
type InstalledHook = {
  /** when the file was written last, epoch milliseconds: a session that started later has it */
  readonly since: number;
  /** it posts to the gateway itself, so the session needs no address, but the token */
  readonly posts: boolean;
};

/**
 * What Vigil sees of a running session. `watched`: by its hook; `restart_for_hook`: by its runtime only, as it started before its hook was
 * installed; `restart_to_be_seen`: nothing; `watched_without_hook` and `unseen_without_hook`: as its folder has no hook.
 */
export type Seen =
  | 'watched'
  | 'restart_for_hook'
  | 'restart_to_be_seen'
  | 'watched_without_hook'
  | 'unseen_without_hook';

const hookIn = (file: string): InstalledHook | null => {
  try {
    const { hooks } = installed(readSettings(file), file);
    return hooks.length === 0
      ? null
      : { since: statSync(file).mtimeMs, posts: hooks.some(({ hook }) => 'url' in hook) };
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
};

/** The hooks in the settings of its folder and of its user. */
export const hooksOf = ({ adapter, cwd, env }: RunningSession): readonly InstalledHook[] => {
  const { project, user } = adapter.install.files({ cwd: cwd ?? '/', home: env.HOME ?? homedir(), env });
  return (cwd === null ? [user] : [project, user]).flatMap((file) => hookIn(file) ?? []);
};

/** The agent that the session is has reported by the client's hook: its runtime cannot have read the same from its output. */
const hasReported = ({ adapter, invocation, env }: RunningSession, agents: readonly AgentRow[]): boolean =>
  !invocation.streamsEvents &&
  env.VIGIL_INSTANCE_ID !== undefined &&
  agents.some(({ instanceId, client }) => instanceId === env.VIGIL_INSTANCE_ID && client === adapter.name);

/** `agents`: those that Vigil has seen; empty if it was not queried. */
export const seenOf = (session: RunningSession, hooks: readonly InstalledHook[], agents: readonly AgentRow[]): Seen => {
  const { env, startedAt } = session;
  if (hasReported(session, agents)) return 'watched';
  const isSupervised = env.VIGIL_SOCKET !== undefined;
  if (hooks.length === 0) return isSupervised ? 'watched_without_hook' : 'unseen_without_hook';
  const own = hooks.filter(({ since }) => startedAt !== null && startedAt >= since);
  if (isSupervised) return own.length > 0 ? 'watched' : 'restart_for_hook';
  const hasWay = ({ posts }: InstalledHook) =>
    env.VIGIL_GATEWAY_TOKEN !== undefined && (posts || env.VIGIL_GATEWAY_URL !== undefined);
  return own.some(hasWay) ? 'watched' : 'restart_to_be_seen';
};
