import { readFileSync } from 'node:fs';

/** Whether a process with this pid runs. A dead process that its parent has not reaped does not. */
export const isAlive = (pid: number): boolean => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/^[ZX]$/.test(stat[stat.lastIndexOf(')') + 2] ?? 'X');
  } catch {
    return process.platform !== 'linux' && isSignalled(pid);
  }
};

const isSignalled = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
