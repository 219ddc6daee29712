import { lstatSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { pause } from '../clock.ts';
import type { HostDeps } from '../deps.ts';
import { endProcess } from '../process/end-process.ts';
import { ifKnown, isAlive, signalled, type Tree } from '../process/proc.ts';
import type { Exit, StartedNext, Terminal } from '../terminal/terminal.ts';
import {
  eachMessage,
  type FromPtyHost,
  type Hello,
  type HostedAgent,
  type ToPtyHost,
  type ViewerAction,
  writeMessage,
} from './protocol.ts';
import type { Chunk } from './ring.ts';

/** The PTY host has refused the connection: why, and what to do about it. */
export class PtyHostRefused extends Error {
  override readonly name = 'PtyHostRefused';
}

/** Generous, because a busy host does not mean a broken PTY host: a supervisor that takes an agent over would end both. Milliseconds. */
const ANSWER_MS = 60_000;

const chunksIn = (messages: readonly FromPtyHost[]): Chunk[] =>
  messages.flatMap((one) => ('output' in one ? [{ ...one, data: Buffer.from(one.output, 'base64') }] : []));

/** A connection to a PTY host. Its messages wait until there is a listener. */
export class Link {
  readonly hosted: HostedAgent;
  /** resolves when it is over, by whichever side */
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  readonly #kept = Promise.withResolvers<readonly Chunk[]>();
  readonly #waiting: FromPtyHost[] = [];
  #listener: ((message: FromPtyHost) => void) | null = null;
  /** the agent works on without us */
  isLeft = false;

  constructor(socket: Socket, hosted: HostedAgent) {
    this.#socket = socket;
    this.hosted = hosted;
    this.closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
    this.#look();
    void this.closed.then(() => this.#kept.resolve(chunksIn(this.#waiting)));
  }

  /** resolves with the kept output when all of it has arrived; the listener receives it as well */
  get kept(): Promise<readonly Chunk[]> {
    return this.#kept.promise;
  }

  #look(): void {
    const last = chunksIn(this.#waiting.slice(-1)).at(0);
    const { first, next } = this.hosted;
    if ((last ? last.from + last.data.length : first) >= next) this.#kept.resolve(chunksIn(this.#waiting));
  }

  listen(onMessage: (message: FromPtyHost) => void): void {
    this.#listener = onMessage;
    this.#waiting.splice(0).forEach(onMessage);
  }

  /** From the PTY host. */
  receive(message: FromPtyHost): void {
    if (this.#listener) this.#listener(message);
    else {
      this.#waiting.push(message);
      this.#look();
    }
  }

  send = (message: ToPtyHost): void => void (this.#socket.writable && writeMessage(this.#socket, message));
  /** reads no further until resumed; output waits in the PTY host, within its limit */
  pause = (): void => void this.#socket.pause();
  resume = (): void => void this.#socket.resume();
  close = (): void => void this.#socket.end();

  /** closes it, where the agent works on without us */
  leave(): void {
    this.isLeft = true;
    this.close();
  }
}

/** A socket of another user is not used. */
const checkOwner = (path: string): void => {
  const found = lstatSync(path);
  if (!found.isSocket() || found.uid !== process.getuid?.()) throw new Error(`${path} is not a socket of this user`);
};

/**
 * Connects to the PTY host at this socket.
 * @throws PtyHostRefused if it refuses; else the connection's error
 */
export const connectPtyHost = (path: string, hello: Hello): Promise<Link> =>
  new Promise((resolve, reject) => {
    checkOwner(path);
    let link: Link | null = null;
    const socket = createConnection(path, () => writeMessage(socket, { hello }));
    const late = setTimeout(() => socket.destroy(new Error(`the PTY host at ${path} does not answer`)), ANSWER_MS);
    socket.on('error', reject);
    socket.once('close', () => {
      clearTimeout(late);
      reject(new Error(`the PTY host at ${path} has closed the connection`));
    });
    eachMessage<FromPtyHost>(socket, (message) => {
      clearTimeout(late);
      if (link) link.receive(message);
      else if ('refused' in message) reject(new PtyHostRefused(message.refused));
      else if ('hosted' in message) {
        link = new Link(socket, message.hosted);
        resolve(link);
      } else socket.destroy(new Error(`what listens at ${path} is not a PTY host`));
    });
  });

export type HostedTerminalEvents = {
  readonly output: (chunk: Chunk) => void;
  readonly action: (action: ViewerAction) => void;
};

/** The agent's end as its PTY host saw it (`tree`: how its processes are found). Where the PTY host died first, the agent is ended, with an unknown result. */
export const hostedTerminal = (
  link: Link,
  tree: Omit<Tree, 'leader'>,
  on: HostedTerminalEvents,
  { killAfterMs, clock }: Pick<HostDeps, 'killAfterMs' | 'clock'>,
): Terminal => {
  let { child, started } = link.hosted;
  const waiting = new Map<string, (started: StartedNext) => void>();
  const hasStarted = (next: StartedNext): void => {
    started = next;
    child = next.pid;
    waiting.get(next.id)?.(next);
    waiting.delete(next.id);
  };
  let endedAt: number | null = null;
  const exited = new Promise<Exit>((resolve) => {
    const receive = (message: FromPtyHost): void => {
      if ('output' in message) on.output({ ...message, data: Buffer.from(message.output, 'base64') });
      else if ('action' in message) on.action(message.action);
      else if ('started' in message) hasStarted(message.started);
      else if ('ended' in message) {
        const { code, signal, at } = message.ended;
        endedAt = at;
        resolve({ code, signal });
      }
    };
    link.listen(receive);
    void link.closed.then(async () => {
      if (endedAt !== null || link.isLeft) return;
      // Its terminal is gone: it has received SIGHUP, and a process that survives that can be neither watched nor reached.
      const { ptyHost } = link.hosted;
      if (ifKnown(() => isAlive(ptyHost), false)) signalled(ptyHost.pid, 'SIGKILL');
      await endProcess({ ...tree, leader: child }, { graceMs: 0, killAfterMs }, clock);
      resolve({ code: null, signal: null });
    });
  });
  return {
    get pid() {
      return child;
    },
    exited,
    prepareNext: (next) => link.send({ next }),
    startNext: (id) =>
      started?.id === id
        ? Promise.resolve(started)
        : new Promise<StartedNext>((resolve) => {
            waiting.set(id, resolve);
            link.send({ startNext: id });
          }),
    dropNext: () => link.send({ dropNext: true }),
    startedNext: () => started,
    endedAt: () => endedAt,
    write: (data) => link.send({ input: Buffer.from(data as string).toString('base64') }),
    resize: (columns, rows) => link.send({ resize: { columns: Math.max(1, columns), rows: Math.max(1, rows) } }),
    pause: link.pause,
    resume: link.resume,
    signal: (signal) => void signalled(-child.pid, signal),
    note: (note) => link.send({ note }),
    close: async () => {
      link.send({ bye: true });
      await Promise.race([link.closed, pause(2000)]);
    },
  };
};
