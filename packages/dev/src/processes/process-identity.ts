import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const fromProc = (pid: number): string | null => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, second field, may hold spaces and brackets: count from its end. State is field 3, start time field 22.
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

/** When a process was started, so that its number is never taken for another's; null once it is dead, reaped or not. */
export const startOf = (pid: number): string | null => (existsSync('/proc/self/stat') ? fromProc(pid) : fromPs(pid));
