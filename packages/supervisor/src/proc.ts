import { readdirSync, readFileSync } from 'node:fs';

/** A process that a recycled number cannot be mistaken for; `startTime` in clock ticks since boot, null where /proc is missing. */
export type Pid = { readonly pid: number; readonly startTime: string | null };

type Stat = { readonly state: string; readonly session: number; readonly startTime: string };

/** The command's name stands in brackets and may hold anything, so fields count from the last bracket (proc(5)). */
const statOf = (pid: number): Stat | null => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', session: Number(fields[3]), startTime: fields[19] ?? '' };
  } catch {
    return null;
  }
};

const isDead = (stat: Stat | null): boolean => stat === null || stat.state === 'Z' || stat.state === 'X';

export const identify = (pid: number): Pid => ({ pid, startTime: statOf(pid)?.startTime ?? null });

/** Is exactly this process still running? */
export const isAlive = ({ pid, startTime }: Pid): boolean => {
  if (process.platform !== 'linux') return signalled(pid, 0);
  const stat = statOf(pid);
  return !isDead(stat) && (startTime === null || stat?.startTime === startTime);
};

/** Everything that still runs in the session that this process leads: its groups and what it left behind. */
export const sessionOf = (leader: number): readonly number[] => {
  if (process.platform !== 'linux') return signalled(-leader, 0) ? [leader] : [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const stat = statOf(pid);
      return stat?.session === leader && !isDead(stat);
    });
};

/** What /proc counts starts in, milliseconds. */
const tickMs = 10;
/** How far off the time may be for which a process is said to have run, milliseconds. */
const slackMs = 1000;

/**
 * What is left of the session of a process that ran for so long and has ended. As long as anything is, its number is nobody
 * else's: whoever leads a session by that number now was started after that end, and so was all that is in it.
 */
export const leftOf = ({ pid, startTime }: Pid, ranMs: number): readonly number[] => {
  const members = sessionOf(pid);
  if (startTime === null) return members;
  const end = Number(startTime) + (ranMs + slackMs) / tickMs;
  return members.some((member) => Number(statOf(member)?.startTime ?? Infinity) <= end) ? members : [];
};

/** False: there was nobody to receive it. A negative pid is a group. */
export const signalled = (pid: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
};

const residentOf = (pid: number): number | null => {
  try {
    const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return found ? Number(found[1]) * 1024 : null;
  } catch {
    return null;
  }
};

/** What these processes hold in memory together, bytes: what they share counts for each. Null: nothing is known of any. */
export const residentBytes = (pids: readonly number[]): number | null => {
  const known = pids.map(residentOf).filter((bytes) => bytes !== null);
  return known.length === 0 ? null : known.reduce((sum, bytes) => sum + bytes, 0);
};
