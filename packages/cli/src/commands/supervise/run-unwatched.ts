import { spawn } from 'node:child_process';
import { exitStatus } from '@vigil/supervisor';

/** A terminal sends these to its whole foreground group, so the command receives them itself. */
const FROM_TERMINAL: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT'];

/**
 * Runs the command as if Vigil were not there. A command that does not exist ends with code 127.
 * Gives the exit status that a shell would have given.
 */
export const runUnwatched = (
  [command = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
  signals: readonly NodeJS.Signals[],
): Promise<number> =>
  new Promise((resolve, reject) => {
    let pass = (_signal: NodeJS.Signals): void => {};
    // Before the command starts: a signal that it causes at once would otherwise end only this process.
    for (const signal of signals)
      process.on(signal, () => {
        if (!(process.stdin.isTTY && FROM_TERMINAL.includes(signal))) pass(signal);
      });
    const child = spawn('/bin/sh', ['-c', 'exec "$0" "$@"', command, ...args], { stdio: 'inherit', env });
    pass = (signal) => child.kill(signal);
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(exitStatus({ code, signal })));
  });
