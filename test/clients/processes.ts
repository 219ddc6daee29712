import { readdirSync, readFileSync } from 'node:fs';
import { isAlive } from '../support/alive.ts';

/** Every process of a session has this variable with the session's name, also one that has left its group. */
export const SESSION_MARK = 'VIGIL_TEST_SESSION';

const environmentOf = (pid: number): readonly string[] => {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return [];
  }
};

/** The processes of a session that run, by /proc. */
export const processesOf = (session: string): readonly number[] =>
  readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => environmentOf(pid).includes(`${SESSION_MARK}=${session}`) && isAlive(pid));

export const endTree = (session: string): void => {
  for (const pid of processesOf(session))
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // ended in the meantime
    }
};
