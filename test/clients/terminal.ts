import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import type { ClientCommand } from './client/session.ts';

/** One entry of an asciicast (version 2): output, input, or a marker. */
type CastEvent = readonly [seconds: number, kind: 'o' | 'i' | 'm', data: string];

export const COLUMNS = 100;
export const ROWS = 30;

/** A real client in a pseudo-terminal, with the screen that a person would see. */
export type Terminal = {
  readonly pid: number;
  readonly screen: () => string;
  /** Resolves when the screen matches. @throws when it does not within the limit, with the screen */
  readonly shows: (pattern: RegExp, limitMs?: number) => Promise<void>;
  readonly type: (text: string) => void;
  readonly mark: (label: string) => void;
  readonly exited: Promise<number>;
  readonly exitCode: () => number | null;
  readonly cast: () => readonly CastEvent[];
  readonly end: () => Promise<void>;
};

const POLL_MS = 50;

export const startTerminal = ({ command, args, env, cwd }: ClientCommand): Terminal => {
  const pty = spawn(command, [...args], {
    name: 'xterm-256color',
    cols: COLUMNS,
    rows: ROWS,
    cwd,
    env,
    encoding: null,
  });
  const emulator = new xterm.Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true });
  const decoder = new StringDecoder('utf8');
  const startedAt = performance.now();
  const cast: CastEvent[] = [];
  let code: number | null = null;
  const add = (kind: CastEvent[1], data: string): void => {
    cast.push([Math.round(performance.now() - startedAt) / 1000, kind, data]);
  };
  // A pty without an encoding gives bytes, against its types.
  pty.onData((data: string | Buffer) => {
    const text = typeof data === 'string' ? data : decoder.write(data);
    add('o', text);
    emulator.write(text);
  });
  // The terminal answers queries (cursor position, device attributes) as a real one does.
  emulator.onData((reply) => {
    add('i', reply);
    pty.write(reply);
  });
  const exited = new Promise<number>((resolve) => {
    pty.onExit(({ exitCode }) => {
      code = exitCode;
      resolve(exitCode);
    });
  });
  const screen = (): string => {
    const buffer = emulator.buffer.active;
    const lines = Array.from(
      { length: ROWS },
      (_, row) => buffer.getLine(buffer.baseY + row)?.translateToString(true) ?? '',
    );
    return lines.join('\n').trimEnd();
  };
  const shows = async (pattern: RegExp, limitMs = 30_000): Promise<void> => {
    const until = performance.now() + limitMs;
    while (!pattern.test(screen())) {
      if (performance.now() > until)
        throw new Error(`the screen does not show ${pattern} after ${limitMs} ms:\n${screen()}`);
      await sleep(POLL_MS);
    }
  };
  return {
    pid: pty.pid,
    screen,
    shows,
    type: (text) => {
      add('i', text);
      pty.write(text);
    },
    mark: (label) => add('m', label),
    exited,
    exitCode: () => code,
    cast: () => cast,
    end: async () => {
      if (code !== null) return;
      pty.kill('SIGTERM');
      await Promise.race([exited, sleep(3000)]);
      if (code === null) pty.kill('SIGKILL');
      await exited;
    },
  };
};
