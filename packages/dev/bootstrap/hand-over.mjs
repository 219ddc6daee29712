import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import os from 'node:os';
import { isatty } from 'node:tty';
import { report } from './command.mjs';

const terminals = [0, 1, 2].filter((fd) => isatty(fd));

/** An older Node aborts at its exit if it cannot reset a terminal that is gone. It does not reset a closed terminal. */
const leaveLostTerminal = () => {
  for (const fd of terminals) if (!isatty(fd)) closeSync(fd);
};

/**
 * Runs the command in place of this process: with its terminal, its signals and its exit code.
 * `ownInterrupts`: how many SIGINT of a terminal the command receives itself; 0 if it may receive the same Ctrl-C
 * twice.
 */
export const handOver = (command, args, env, ownInterrupts = 2) => {
  const child = spawn(command, args, { stdio: 'inherit', env });
  // A terminal sends Ctrl-C to the whole group, so wait until the child has shut down. Forward signals that only this process gets.
  let interrupts = 0;
  process.on('SIGINT', () => {
    interrupts += 1;
    if (!process.stdin.isTTY || interrupts > ownInterrupts) child.kill('SIGINT');
  });
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // npm does not forward SIGTERM to its script, so shut down when the parent is gone.
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && child.kill('SIGTERM'), 500).unref();
  child.on('error', (error) => {
    report(error.message);
    process.exit(1);
  });
  process.on('exit', leaveLostTerminal);
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (os.constants.signals[signal] ?? 1)));
};
