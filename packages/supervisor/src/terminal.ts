import { constants } from 'node:os';
import { spawn } from '@lydell/node-pty';
import type { Memory } from './memory.ts';
import { identify, type Pid, signalled } from './proc.ts';

export type Command = {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
};
/** `signal` is null where the process ended by itself. */
export type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** A process on a pseudo-terminal of its own, which it leads as session and group. */
export type Terminal = {
  readonly pid: Pid;
  readonly exited: Promise<Exit>;
  readonly write: (data: string | Buffer) => void;
  readonly resize: (columns: number, rows: number) => void;
  /** holds the process's output back until resumed */
  readonly pause: () => void;
  readonly resume: () => void;
  /** to the whole group */
  readonly signal: (signal: NodeJS.Signals) => void;
  /** when it has ended, epoch milliseconds, where that was not just now; null: it has not, or just now */
  readonly endedAt: () => number | null;
  /** what a supervisor that comes after this one has to know, where the terminal outlives this one */
  readonly note: (note: Memory) => void;
  /** its end is reported: nothing more is wanted of it */
  readonly close: () => Promise<void>;
};

const signalName = (number: number | undefined): NodeJS.Signals | null => {
  const found = Object.entries(constants.signals).find(([, value]) => value === number);
  return number ? ((found?.[0] ?? 'SIGKILL') as NodeJS.Signals) : null;
};

/** A text as a line to be typed: Ctrl-C or an escape sequence in it would be a key that nobody has pressed. */
export const asOneLine = (text: string): string =>
  text
    .split(/[\r\n]+/)
    .map((one) => one.trim())
    .join(' ')
    .replace(/\p{Cc}/gu, ' ');

export type Size = { readonly columns: number; readonly rows: number };

/** The shell's answer for a command that ended so. */
export const exitStatus = ({ code, signal }: Exit): number => (signal ? 128 + constants.signals[signal] : (code ?? 1));

/** Starts the command; a command that does not exist ends at once with code 127. */
export const openTerminal = (
  { command, args, cwd, env }: Command,
  size: Size,
  onOutput: (data: Buffer) => void,
): Terminal => {
  const pty = spawn('/bin/sh', ['-c', 'exec "$0" "$@"', command, ...args], {
    cwd,
    env,
    cols: size.columns,
    rows: size.rows,
    name: env.TERM ?? 'xterm-256color',
    encoding: null,
  });
  pty.onData((data) => onOutput(Buffer.from(data)));
  const exited = new Promise<Exit>((resolve) => {
    pty.onExit(({ exitCode, signal }) => {
      const name = signalName(signal);
      resolve({ code: name ? null : exitCode, signal: name });
    });
  });
  return {
    pid: identify(pty.pid),
    exited,
    write: (data) => pty.write(data as string),
    resize: (columns, rows) => {
      try {
        pty.resize(Math.max(1, columns), Math.max(1, rows));
      } catch (error) {
        // its process lives on and has closed it: there is nothing that could have a size
        if (!/ioctl/.test(String(error))) throw error;
      }
    },
    pause: () => pty.pause(),
    resume: () => pty.resume(),
    signal: (signal) => void signalled(-pty.pid, signal),
    endedAt: () => null,
    note: () => {},
    close: async () => {},
  };
};
