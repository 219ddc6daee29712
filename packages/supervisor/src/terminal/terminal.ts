import { execFileSync } from 'node:child_process';
import { chownSync, closeSync, constants as files, mkdtempSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type IPty, spawn } from '@lydell/node-pty';
import { pause } from '../clock.ts';
import { startIn } from '../process/cgroup.ts';
import { type HostUser, takeGroups } from '../process/host-user.ts';
import { identify, type Pid, signalled } from '../process/proc.ts';

export type Command = {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
};
/**
 * What a command prints to. `terminal`: its terminal, which echoes input and puts a carriage return before each newline.
 * `raw`: its terminal, which adds nothing. `pipe`: a pipe, also for its errors; the rest of it has a terminal that adds
 * nothing.
 */
export type OutputKind = 'terminal' | 'raw' | 'pipe';
export type TerminalCommand = Command & {
  readonly prints: OutputKind;
  /** the folder of the cgroup that it runs in; null: that of its supervisor */
  readonly cgroup: string | null;
  /** null: the user of this process. Another one needs a process of its own, which takes the groups of that user. */
  readonly user: HostUser | null;
};
/** `signal` is null where the process ended by itself. */
export type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** A command that follows the present one on the same terminal. `id`: of its order; it is started once for each. */
export type NextCommand = { readonly id: string; readonly command: string; readonly args: readonly string[] };
export type StartedNext = { readonly id: string; readonly pid: Pid };

/** A process on a pseudo-terminal of its own, which it leads as session and group. */
export type Terminal = {
  /** the process that runs now */
  readonly pid: Pid;
  /** resolves at the end of the last process */
  readonly exited: Promise<Exit>;
  /** from now on the end of the present process is not the end of the agent: this command follows it */
  readonly prepareNext: (next: NextCommand) => void;
  /**
   * starts the program that was prepared under this id when the present process has ended. Rejects if nothing is
   * prepared.
   */
  readonly startNext: (id: string) => Promise<StartedNext>;
  /** nothing follows the present process any more: where it has ended meanwhile, the agent has */
  readonly dropNext: () => void;
  /** the command that was started last in the place of another; null: none was */
  readonly startedNext: () => StartedNext | null;
  readonly write: (data: string | Buffer) => void;
  readonly resize: (columns: number, rows: number) => void;
  /** holds the process's output back until it is resumed as often as it was paused */
  readonly pause: () => void;
  readonly resume: () => void;
  /** to the whole group */
  readonly signal: (signal: NodeJS.Signals) => void;
  /** when it has ended, epoch milliseconds, where that was not just now; null: it has not, or just now */
  readonly endedAt: () => number | null;
  /** what the next supervisor has to know, where the terminal outlives this one; plain JSON */
  readonly note: (note: unknown) => void;
  /** its end is reported: nothing more is needed from it */
  readonly close: () => Promise<void>;
};

const signalName = (number: number | undefined): NodeJS.Signals | null => {
  const found = Object.entries(constants.signals).find(([, value]) => value === number);
  return number ? ((found?.[0] ?? 'SIGKILL') as NodeJS.Signals) : null;
};

/** A text as a line to be typed: Ctrl-C or an escape sequence in it would be a key that no person pressed. */
export const asOneLine = (text: string): string =>
  text
    .split(/[\r\n]+/)
    .map((one) => one.trim())
    .join(' ')
    .replace(/\p{Cc}/gu, ' ');

export type Size = { readonly columns: number; readonly rows: number };

/** The shell's answer for a command that ended so. */
export const exitStatus = ({ code, signal }: Exit): number => (signal ? 128 + constants.signals[signal] : (code ?? 1));

type Pty = Pick<Terminal, 'pid' | 'exited' | 'write' | 'pause' | 'resume'> & { readonly resize: (size: Size) => void };

/** A process that could not be ended later is not started. @throws ProcessesUnknown */
const identified = (pid: number): Pid => {
  try {
    return identify(pid);
  } catch (error) {
    signalled(-pid, 'SIGKILL');
    throw error;
  }
};

/** How long a pipe may be still after the end of its command, milliseconds: another process may hold it open. */
const PIPE_LASTS_MS = 200;

/** A named pipe that a command prints to. `opened`: the command has it now. */
class OutputPipe {
  readonly path: string;
  readonly #dir: string;
  /** without a writer the reader would be at the end before the command has begun */
  #writer: number | null;
  readonly #reader: Socket;
  #isOver = false;
  readonly over: Promise<void>;

  constructor(onOutput: (data: Buffer) => void) {
    this.#dir = mkdtempSync(join(tmpdir(), 'vigil-pipe-'));
    this.path = join(this.#dir, 'output');
    execFileSync('mkfifo', ['-m', '600', this.path]);
    const reader = openSync(this.path, files.O_RDONLY | files.O_NONBLOCK);
    this.#writer = openSync(this.path, files.O_WRONLY);
    this.#reader = new Socket({ fd: reader, readable: true, writable: false }).on('data', onOutput);
    this.over = new Promise((resolve) => {
      this.#reader.on('close', () => {
        this.#isOver = true;
        resolve();
      });
    });
  }

  opened(): void {
    if (this.#writer === null) return;
    closeSync(this.#writer);
    this.#writer = null;
    rmSync(this.#dir, { recursive: true, force: true });
  }

  /** Its command has ended: the rest of its output is read. */
  async drained(): Promise<void> {
    this.opened();
    let readBefore = -1;
    while (!this.#isOver && (this.#reader.isPaused() || this.#reader.bytesRead > readBefore)) {
      readBefore = this.#reader.bytesRead;
      await Promise.race([this.over, pause(PIPE_LASTS_MS)]);
    }
    this.#reader.destroy();
    await this.over;
  }

  pause(): void {
    this.#reader.pause();
  }
  resume(): void {
    this.#reader.resume();
  }
}

/** The first byte on a terminal that adds nothing, before its command starts: until then it would echo input. */
const PREPARED = 1;

const scriptFor = (pipe: OutputPipe | null, prints: OutputKind): string => {
  if (prints === 'terminal') return 'exec "$0" "$@"';
  const printsTo = pipe === null ? '' : `exec >'${pipe.path}' 2>&1; `;
  return `stty -opost -echo; exec 3>&1; ${printsTo}printf '\\001' >&3; exec "$0" "$@" 3>&-`;
};

/** Input waits until the terminal is prepared, and the byte that shows it is taken from the output. */
class Preparation {
  #isDone: boolean;
  readonly #waiting: (() => void)[] = [];

  constructor(isDone: boolean) {
    this.#isDone = isDone;
  }

  after(act: () => void): void {
    if (this.#isDone) act();
    else this.#waiting.push(act);
  }

  without(data: Buffer): Buffer {
    if (this.#isDone) return data;
    const at = data.indexOf(PREPARED);
    if (at < 0) return data;
    this.#isDone = true;
    for (const act of this.#waiting) act();
    return Buffer.concat([data.subarray(0, at), data.subarray(at + 1)]);
  }
}

/** The longest that the end of a command waits for its last output to be read, milliseconds. */
const UNREAD_LASTS_MS = 10_000;

/**
 * node-pty destroys its socket 200 ms after the exit of the command, also one that is paused or has more to read: a busy
 * host lost the last output. Here the socket waits until it has given everything. A leftover process may hold the
 * terminal open, so 200 ms without output are its end as well.
 */
const readToTheEnd = (pty: IPty): void => {
  const { _socket: socket } = pty as IPty & { readonly _socket?: Socket };
  if (socket === undefined) throw new Error('node-pty has no _socket any more: see how it ends its terminals now');
  const destroy = socket.destroy.bind(socket);
  let readBefore = -1;
  let waitedMs = 0;
  socket.destroy = (error) => {
    const isOver = error !== undefined || socket.readableEnded || waitedMs >= UNREAD_LASTS_MS;
    if (isOver || (!socket.isPaused() && socket.bytesRead === readBefore)) return destroy(error);
    readBefore = socket.bytesRead;
    waitedMs += PIPE_LASTS_MS;
    setTimeout(() => socket.destroy(), PIPE_LASTS_MS);
    return socket;
  };
};

/** The user owns its terminal, as after a login: programs open it by its name, too. */
const giveTerminal = (pty: IPty, { uid, gid }: HostUser): void => {
  const { ptsName } = pty as IPty & { readonly ptsName?: string };
  if (ptsName === undefined) throw new Error('node-pty has no ptsName any more: see how it names its terminals now');
  chownSync(ptsName, uid, gid);
};

/** A command that does not exist ends at once with code 127. */
const openPty = (
  { command, args, cwd, env, prints, cgroup, user }: TerminalCommand,
  size: Size,
  onOutput: (data: Buffer) => void,
): Pty => {
  const pipe = prints === 'pipe' ? new OutputPipe(onOutput) : null;
  const preparation = new Preparation(prints === 'terminal');
  const options = {
    cwd,
    env,
    cols: size.columns,
    rows: size.rows,
    name: env.TERM ?? 'xterm-256color',
    encoding: null,
    ...(user === null ? {} : { uid: user.uid, gid: user.gid }),
  };
  const script = scriptFor(pipe, prints);
  // node-pty sets the user and its group, and leaves the further groups of this process.
  if (user !== null) takeGroups(user);
  const pty = startIn(cgroup, () => spawn('/bin/sh', ['-c', script, command, ...args], options));
  if (user !== null) giveTerminal(pty, user);
  readToTheEnd(pty);
  preparation.after(() => pipe?.opened());
  pty.onData((data) => {
    const own = preparation.without(Buffer.from(data));
    if (own.length > 0) onOutput(own);
  });
  const exited = new Promise<Exit>((resolve) => {
    pty.onExit(async ({ exitCode, signal }) => {
      const name = signalName(signal);
      await pipe?.drained();
      resolve({ code: name ? null : exitCode, signal: name });
    });
  });
  let pauses = 0;
  return {
    pid: identified(pty.pid),
    exited,
    write: (data) => preparation.after(() => pty.write(data as string)),
    resize: ({ columns, rows }) => {
      try {
        pty.resize(columns, rows);
      } catch (error) {
        // its process runs on and has closed it: there is no terminal to resize
        if (!/ioctl/.test(String(error))) throw error;
      }
    },
    pause: () => {
      pauses += 1;
      pty.pause();
      pipe?.pause();
    },
    resume: () => {
      pauses = Math.max(0, pauses - 1);
      if (pauses > 0) return;
      pty.resume();
      pipe?.resume();
    },
  };
};

/** One command after the other on one terminal; the agent ends with the last. */
class LocalTerminal implements Terminal {
  readonly #command: TerminalCommand;
  readonly #onOutput: (data: Buffer) => void;
  readonly #over = Promise.withResolvers<Exit>();
  readonly exited = this.#over.promise;
  #size: Size;
  #pty: Pty;
  #next: NextCommand | null = null;
  #started: StartedNext | null = null;
  /** the end of the present process, while something is to follow it */
  #ended: Exit | null = null;

  constructor(command: TerminalCommand, size: Size, onOutput: (data: Buffer) => void) {
    this.#command = command;
    this.#onOutput = onOutput;
    this.#size = size;
    this.#pty = this.#open(command);
  }

  #open(command: TerminalCommand): Pty {
    const pty = openPty(command, this.#size, this.#onOutput);
    void pty.exited.then((exit) => {
      if (this.#next === null) this.#over.resolve(exit);
      else this.#ended = exit;
    });
    return pty;
  }

  get pid(): Pid {
    return this.#pty.pid;
  }
  write = (data: string | Buffer): void => this.#pty.write(data);
  pause = (): void => this.#pty.pause();
  resume = (): void => this.#pty.resume();
  signal = (signal: NodeJS.Signals): void => void signalled(-this.pid.pid, signal);
  startedNext = (): StartedNext | null => this.#started;
  endedAt = (): null => null;
  note = (): void => {};
  close = async (): Promise<void> => {};

  resize(columns: number, rows: number): void {
    this.#size = { columns: Math.max(1, columns), rows: Math.max(1, rows) };
    this.#pty.resize(this.#size);
  }

  prepareNext(next: NextCommand): void {
    if (this.#started?.id !== next.id) this.#next = next;
  }

  dropNext(): void {
    this.#next = null;
    if (this.#ended !== null) this.#over.resolve(this.#ended);
  }

  async startNext(id: string): Promise<StartedNext> {
    if (this.#next?.id === id) await this.#pty.exited;
    const next = this.#next;
    if (this.#started?.id === id) return this.#started;
    if (next?.id !== id) throw new Error(`no command is prepared for ${id}`);
    const ended = this.#ended;
    this.#next = null;
    this.#ended = null;
    try {
      this.#pty = this.#open({ ...this.#command, command: next.command, args: next.args });
    } catch (error) {
      // Nothing follows, so the agent has ended with its last process.
      if (ended !== null) this.#over.resolve(ended);
      throw error;
    }
    this.#started = { id, pid: this.#pty.pid };
    return this.#started;
  }
}

/** Starts the command; a command that does not exist ends at once with code 127. */
export const openTerminal = (command: TerminalCommand, size: Size, onOutput: (data: Buffer) => void): Terminal =>
  new LocalTerminal(command, size, onOutput);
