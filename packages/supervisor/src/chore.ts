import { execFile } from 'node:child_process';
import type { Log } from './clock.ts';

/** A command with its arguments, from the runtime's own configuration: never from an order's text. */
export type Chore = readonly [string, ...string[]];

/** Runs it to its end, or kills it after so long; gives its output's lines, none where it failed. */
export const runChore = (
  [command, ...args]: Chore,
  env: Readonly<Record<string, string>>,
  withinMs: number,
  log: Log,
): Promise<readonly string[]> =>
  new Promise((resolve) => {
    execFile(command, args, { env, timeout: withinMs, killSignal: 'SIGKILL', maxBuffer: 1 << 20 }, (error, stdout) => {
      if (error) log('a configured command failed', { command, args, error: error.message });
      resolve(error ? [] : stdout.split('\n').filter((line) => line.trim() !== ''));
    });
  });
