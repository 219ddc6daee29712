import { existsSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** Linux counts a process's time in ticks of 10 ms. */
const TICK_MS = 10;
const USER = 11;
const SYSTEM = 12;

/** The processor time that a process has used, milliseconds. Not a number once it has ended. */
export const spentMs = (pid: number): number => {
  if (!existsSync(`/proc/${pid}/stat`)) return Number.NaN;
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[USER]) + Number(fields[SYSTEM])) * TICK_MS;
};

const busyMs = (): number =>
  cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);

/**
 * Starts to measure processes. The returned function gives each one's share of a core since then, in per cent, and that
 * of everything else on the machine. A figure that is measured on a busy machine means little. Linux only.
 */
export const watchCpu = (pids: ReadonlyMap<string, number>): (() => ReadonlyMap<string, number>) => {
  const since = performance.now();
  const busy = busyMs();
  const before = new Map([...pids].map(([name, pid]) => [name, spentMs(pid)]));
  return () => {
    const share = (ms: number) => (100 * ms) / (performance.now() - since);
    const shares = [...pids].map(([name, pid]): [string, number] => [
      name,
      share(spentMs(pid) - (before.get(name) ?? 0)),
    ]);
    const others = share(busyMs() - busy) - shares.reduce((sum, [, own]) => sum + own, 0);
    return new Map([...shares, ['everything else', Math.max(0, others)]]);
  };
};
