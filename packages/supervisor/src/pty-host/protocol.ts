import type { Socket } from 'node:net';
import type { Pid } from '../process/proc.ts';
import type { NextCommand, Size, StartedNext, TerminalCommand } from '../terminal/terminal.ts';

/** What a PTY host is started with: one JSON document on its standard input. */
export type Launch = TerminalCommand & {
  readonly agentId: string;
  readonly instanceId: string;
  readonly size: Size;
  /** path of its Unix socket */
  readonly socket: string;
  /** bytes of output that it keeps */
  readonly ring: number;
  /** what the next supervisor needs of the agent; opaque to the PTY host */
  readonly kept: unknown;
};

/** What a PTY host prints when its agent runs; anything else is the reason why it does not. */
export const READY = 'ready\n';

/** How the agent ended; `at`: epoch milliseconds. */
export type Ended = { readonly code: number | null; readonly signal: NodeJS.Signals | null; readonly at: number };

/** What a person at an attached terminal does. */
export type PtyHostAction =
  | { readonly kind: 'opens' | 'leaves' }
  | { readonly kind: 'types'; readonly input: string }
  | { readonly kind: 'resizes'; readonly size: Size }
  /** a restart ends it, and starts the same command again */
  | { readonly kind: 'ends' | 'restarts'; readonly graceMs: number | null };
export type Viewer = { readonly who: string; readonly writes: boolean };
export type ViewerAction = Viewer & PtyHostAction;

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

/** Checks what a viewer sends. The PTY host itself reports that a viewer opened or left. */
export const isPtyHostAction = (sent: unknown): sent is PtyHostAction => {
  if (typeof sent !== 'object' || sent === null) return false;
  const action: { readonly [K in 'kind' | 'input' | 'size' | 'graceMs']?: unknown } = sent;
  if (action.kind === 'types') return typeof action.input === 'string';
  if (action.kind === 'ends' || action.kind === 'restarts') return action.graceMs === null || isCount(action.graceMs);
  if (action.kind !== 'resizes' || typeof action.size !== 'object' || action.size === null) return false;
  const { columns, rows }: { readonly columns?: unknown; readonly rows?: unknown } = action.size;
  return isCount(columns) && isCount(rows);
};

/**
 * The first line of each connection: from the one supervisor, or from a viewer, which receives the last `last` bytes
 * and all further output.
 */
export type Hello =
  | { readonly kind: 'supervisor'; readonly self: Pid }
  | ({ readonly kind: 'viewer'; readonly last: number } & Viewer);

export type HostedAgent = {
  readonly agentId: string;
  readonly instanceId: string;
  readonly child: Pid;
  readonly ptyHost: Pid;
  /** bytes of output: from, and up to where they come before anything else */
  readonly first: number;
  readonly next: number;
  readonly size: Size;
  /** for a supervisor only, as it was given; `note` null: none was */
  readonly kept: unknown;
  readonly note: unknown;
  /** the command that it started last in the place of another; null: none */
  readonly started: StartedNext | null;
  /** its supervisor; null: it has none now */
  readonly supervisor: Pid | null;
};

/** To the PTY host. `input` is base64. A viewer's `action` is passed on to the supervisor, which alone touches the agent. */
export type ToPtyHost =
  | { readonly hello: Hello }
  | { readonly input: string }
  | { readonly resize: Size }
  | { readonly note: unknown }
  | { readonly action: PtyHostAction }
  /** as `prepareNext`, `startNext` and `dropNext` of a terminal */
  | { readonly next: NextCommand }
  | { readonly startNext: string }
  | { readonly dropNext: true }
  | { readonly bye: true };

/** From the PTY host. `output` is base64. */
export type FromPtyHost =
  | { readonly hosted: HostedAgent }
  | { readonly output: string; readonly from: number; readonly at: number }
  /** so many bytes were gone before they could be sent: a viewer is cut off, the supervisor continues after them */
  | { readonly missed: number }
  | { readonly ended: Ended }
  | { readonly started: StartedNext }
  | { readonly action: ViewerAction }
  | { readonly refused: string };

/** Characters; every message is shorter. */
const LONGEST_LINE = 16 << 20;

export const writeMessage = (socket: Socket, message: ToPtyHost | FromPtyHost): boolean =>
  socket.write(`${JSON.stringify(message)}\n`);

const messageIn = <T>(line: string): T => {
  const found: unknown = JSON.parse(line);
  if (typeof found !== 'object' || found === null) throw new Error(`no message: ${line.slice(0, 80)}`);
  return found as T;
};

/**
 * Calls `onMessage` for each line. A peer that sends anything else is cut off. An error that `onMessage` throws is
 * this side's, and breaks no link.
 */
export const eachMessage = <T>(socket: Socket, onMessage: (message: T) => void): void => {
  let rest = '';
  const read = (text: string): readonly T[] => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > LONGEST_LINE) throw new Error('a line without an end');
    return lines.map((line) => messageIn<T>(line));
  };
  socket.setEncoding('utf8').on('data', (text: string) => {
    let messages: readonly T[] = [];
    try {
      messages = read(text);
    } catch (error) {
      socket.destroy(error as Error);
    }
    messages.forEach(onMessage);
  });
};
