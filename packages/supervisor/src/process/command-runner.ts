import { execFile } from 'node:child_process';
import type { Logger } from '../clock.ts';
import type { HostUser } from './host-user.ts';

/** A command with its arguments, from the runtime's own configuration: never from an order's text. */
export type ConfiguredCommand = readonly [string, ...string[]];

export type CommandContext = {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** null: the user of this process. Another one has only its first group. */
  readonly user: HostUser | null;
  readonly withinMs: number;
};

/** Runs it to its end, or kills it after the time limit. Returns its output, null if it failed. */
export const runCommand = (
  [command, ...args]: ConfiguredCommand,
  { withinMs, user, ...room }: CommandContext,
  logger: Logger,
): Promise<string | null> =>
  new Promise((resolve) => {
    const limits = { timeout: withinMs, killSignal: 'SIGKILL', maxBuffer: 1 << 20 } as const;
    const failed = (error: Error) => {
      logger('a configured command failed', { command, args, error: error.message });
      resolve(null);
    };
    try {
      const as = user === null ? {} : { uid: user.uid, gid: user.gid };
      const child = execFile(command, args, { ...room, ...as, ...limits }, (error, stdout) =>
        error ? failed(error) : resolve(stdout),
      );
      child.stdin?.on('error', () => {}).end();
    } catch (error) {
      // Some of what the host is short of is thrown instead.
      failed(error as Error);
    }
  });

/** The same, for its output's lines: none where it failed. */
export const runForLines = async (command: ConfiguredCommand, context: CommandContext, logger: Logger) =>
  ((await runCommand(command, context, logger)) ?? '').split('\n').filter((line) => line.trim() !== '');
