import { readdirSync, readFileSync } from 'node:fs';
import { ProcessesUnknown } from '../errors.ts';
import { isCgroup, isPopulated, processesIn } from './cgroup.ts';

/** A process that a recycled number cannot be mistaken for; `startTime` in clock ticks since boot, null where /proc is missing. */
export type Pid = { readonly pid: number; readonly startTime: string | null };

type Stat = {
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly startTime: string;
};

/** The host has no file, or no memory, left to look with. */
const shortages: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOMEM']);

/**
 * Null: there is none, or it belongs to another user. @throws ProcessesUnknown: a process whose state cannot be read
 * has not ended
 */
const fromProc = <T>(look: () => T): T | null => {
  try {
    return look();
  } catch (error) {
    if (shortages.has((error as NodeJS.ErrnoException).code)) throw new ProcessesUnknown(String(error));
    return null;
  }
};

/** The result of a look at processes; `unknown` where the host is too short of files or memory to look. */
export const ifKnown = <T>(look: () => T, unknown: T): T => {
  try {
    return look();
  } catch (error) {
    if (error instanceof ProcessesUnknown) return unknown;
    throw error;
  }
};

/** The command's name is in brackets and may hold anything, so fields count from the last bracket (proc(5)). */
const statOf = (pid: number): Stat | null =>
  fromProc(() => {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return {
      state: fields[0] ?? '',
      parent: Number(fields[1]),
      group: Number(fields[2]),
      session: Number(fields[3]),
      startTime: fields[19] ?? '',
    };
  });

const processes = (): readonly number[] =>
  (fromProc(() => readdirSync('/proc')) ?? []).filter((name) => /^\d+$/.test(name)).map(Number);

const isDead = (stat: Stat | null): boolean => stat === null || stat.state === 'Z' || stat.state === 'X';

/** @throws ProcessesUnknown */
export const identify = (pid: number): Pid => ({ pid, startTime: statOf(pid)?.startTime ?? null });

/** Is exactly this process still running? @throws ProcessesUnknown */
export const isAlive = ({ pid, startTime }: Pid): boolean => {
  if (process.platform !== 'linux') return signalled(pid, 0);
  const stat = statOf(pid);
  return !isDead(stat) && (startTime === null || stat?.startTime === startTime);
};

/** Everything that still runs in the session of this process: its groups and its orphans. @throws ProcessesUnknown */
export const sessionOf = (leader: number): readonly number[] => {
  if (process.platform !== 'linux') return signalled(-leader, 0) ? [leader] : [];
  return running().flatMap(({ pid, session }) => (session === leader ? [pid] : []));
};

/** The arguments of its command line; none: it has ended, or belongs to another user. @throws ProcessesUnknown */
export const wordsOf = (pid: number): readonly string[] =>
  (fromProc(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')) ?? '').split('\0').slice(0, -1);

/**
 * Everything that an agent has started: its cgroup, the session of its process, and processes that have left the
 * session. `socket`: its VIGIL_SOCKET. `cgroup`: the folder of its own; null: it has none.
 */
export type Tree = { readonly leader: Pid; readonly socket: string; readonly cgroup: string | null };

/**
 * How the processes of a tree are found: its cgroup too, its session and the environment, or its session alone. Only
 * the first finds a process that hides on purpose.
 */
export type TreeSource = 'cgroup' | 'environment' | 'session';

/** @throws ProcessesUnknown */
export const sourceOf = ({ cgroup }: Pick<Tree, 'cgroup'>): TreeSource => {
  if (cgroup !== null && isCgroup(cgroup)) return 'cgroup';
  return process.platform === 'linux' ? 'environment' : 'session';
};

const running = (): readonly (Stat & { readonly pid: number })[] =>
  processes().flatMap((pid) => {
    const stat = statOf(pid);
    return stat === null || isDead(stat) ? [] : [{ ...stat, pid }];
  });

/** Every process inherits the environment of its agent; an agent that it starts under Vigil has a socket of its own. */
const carries = (pid: number, { socket }: Tree): boolean =>
  fromProc(() => readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`VIGIL_SOCKET=${socket}`)) ?? false;

/**
 * What still runs of a tree: its cgroup, the session that the leader leads, and every process that carries its socket in
 * its environment, also in sessions of its own. Their descendants are part of it, and this process never is.
 * @throws ProcessesUnknown
 */
export const treeOf = (tree: Tree): readonly number[] => {
  const { leader } = tree;
  if (process.platform !== 'linux') return sessionOf(leader.pid);
  const since = Number(leader.startTime ?? 0);
  const all = running().filter(({ pid, startTime }) => pid !== process.pid && Number(startTime) >= since);
  const isRecycled = all.some(({ pid, startTime }) => pid === leader.pid && startTime !== leader.startTime);
  const found = new Set([
    ...membersOf(tree),
    ...all
      .filter(({ pid, session }) => (session === leader.pid && !isRecycled) || carries(pid, tree))
      .map(({ pid }) => pid),
  ]);
  for (let size = -1; size !== found.size; ) {
    size = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return [...found];
};

const membersOf = ({ cgroup }: Tree): readonly number[] =>
  cgroup === null ? [] : processesIn(cgroup).filter((pid) => pid !== process.pid);

/** No process of it is left. @throws ProcessesUnknown */
export const isGone = (tree: Tree): boolean =>
  !isAlive(tree.leader) && treeOf(tree).length === 0 && (tree.cgroup === null || !isPopulated(tree.cgroup));

/** What /proc counts starts in, milliseconds. */
const TICK_MS = 10;
/** How far off the reported run time of a process may be, milliseconds. */
const SLACK_MS = 1000;

/**
 * The rest of the tree of a process that ran for so long and has ended. While anything of its session runs, the
 * system does not reuse its number. So a process that leads a session by that number was started after that end, and so
 * was everything in it.
 * @throws ProcessesUnknown
 */
export const leftoversOf = (tree: Tree, ranMs: number): readonly number[] => {
  const members = treeOf(tree);
  const { startTime } = tree.leader;
  if (startTime === null) return members;
  const end = Number(startTime) + (ranMs + SLACK_MS) / TICK_MS;
  const inCgroup = new Set(membersOf(tree));
  const isOurs = (pid: number) =>
    inCgroup.has(pid) || Number(statOf(pid)?.startTime ?? Infinity) <= end || carries(pid, tree);
  return members.some(isOurs) ? members : [];
};

/** The process group; null: it has ended. @throws ProcessesUnknown */
export const groupOf = (pid: number): number | null => statOf(pid)?.group ?? null;

/** False: no process received it. A negative pid is a group. */
export const signalled = (pid: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
};

const residentOf = (pid: number): number | null =>
  fromProc(() => {
    const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return found ? Number(found[1]) * 1024 : null;
  });

/** The processes whose memory counts as an agent's: those of its cgroup, else those of its session. @throws ProcessesUnknown */
export const measuredOf = (tree: Tree): readonly number[] =>
  tree.cgroup === null ? sessionOf(tree.leader.pid) : membersOf(tree);

/**
 * The memory of these processes together, bytes: shared memory counts for each. Null: unknown for all of them.
 * @throws ProcessesUnknown
 */
export const residentBytes = (pids: readonly number[]): number | null => {
  const known = pids.map(residentOf).filter((bytes) => bytes !== null);
  return known.length === 0 ? null : known.reduce((sum, bytes) => sum + bytes, 0);
};
