import { createHash } from 'node:crypto';
import { chmodSync, chownSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HostUser } from '../process/host-user.ts';
import { makeFolder } from '../state/own-folder.ts';
import { type HookAnswer, type HookMessage, LONGEST_LINE, type ReportedFields, understand } from './agent-report.ts';

/** A text for the agent. A listener that has it answers `{"received": order_id}`. */
export type TextPush = { readonly order_id: string } & (
  | { readonly nudge: string }
  | { readonly probe: string; readonly message: string }
  | { readonly type: 'handoff_request'; readonly message: string; readonly deadline_ms: number }
);

/** What a supervisor pushes to the listeners on VIGIL_SOCKET, one JSON object a line. */
export type Push =
  | TextPush
  /** it will be ended after this time: what it saves by then is the checkpoint to continue from */
  | { readonly type: 'checkpoint_request'; readonly reason: string; readonly deadline_ms: number }
  | { readonly type: 'shutdown_request'; readonly reason: string }
  | { readonly type: 'reset_breaker'; readonly name: string }
  | { readonly problems: readonly string[] };

/** A hook at the other end: it sends a request, is answered, and goes. */
export type HookClient = {
  readonly answer: (answer: HookAnswer) => void;
  readonly onGone: (listener: () => void) => void;
};

/** Receives the reports of an agent and its helpers, and the messages of its sessions' hooks. */
export type SocketHandlers = {
  readonly onReport: (reported: ReportedFields) => void;
  readonly onHook: (message: HookMessage, client: HookClient) => void;
};

/** `no_listener`: no program listens. `unconfirmed`: a program listens, and none has confirmed the text in time. */
export type Delivery = 'no_listener' | 'confirmed' | 'unconfirmed';

/** An agent and its helpers; more at once are turned away. */
const MOST_CLIENTS = 64;
/** A hook sends its request at once, and gives up before this, milliseconds. So a client that is silent for longer only listens. */
const HOOK_GONE_MS = 3000;
/** Bytes that wait for a client; one that does not read and exceeds this is cut off. */
const MOST_UNREAD = 1 << 20;

const send = (client: Socket, message: Push | HookAnswer): void => {
  if (client.writableLength > MOST_UNREAD) client.destroy();
  else client.write(`${JSON.stringify(message)}\n`);
};

/** A turn of the event loop reads all open sockets once; one turn more accepts a new client. */
const QUIET_TURNS = 3;
/** A helper that lives on may send without end. */
const MOST_TURNS = 256;

/** The memory of all agents of the host is the supervisor's own: of a line without end no more is kept than shows that it is too long. */
const eachLine = (client: Socket, onLine: (line: string) => void): void => {
  let rest = '';
  client.setEncoding('utf8');
  client.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = (lines.pop() ?? '').slice(0, LONGEST_LINE + 1);
    lines.forEach(onLine);
  });
  client.on('end', () => onLine(rest));
};

/** Socket paths are limited to 107 bytes, so an instance is named by a digest in it. */
export const socketPath = (dir: string, instanceId: string): string =>
  join(dir, `${createHash('sha256').update(instanceId).digest('hex').slice(0, 16)}.sock`);

/** Where an agent and its helpers report themselves: a Unix socket with JSON Lines of partial heartbeats. */
export class AgentSocket {
  readonly #handlers: SocketHandlers;
  readonly #server: Server;
  /** all but the hooks */
  readonly #clients = new Set<Socket>();
  readonly #hooks = new Set<Socket>();
  /** clients that are known to be no hooks: each has sent a report, or nothing for longer than a hook lives */
  readonly #listeners = new Set<Socket>();
  /** changes with each new client and each chunk that is read */
  #reads = 0;
  /** texts whose confirmation is awaited, by their order */
  readonly #awaited = new Map<string, (delivery: Delivery) => void>();

  constructor(handlers: SocketHandlers) {
    this.#handlers = handlers;
    this.#server = createServer((client) => this.#accept(client));
    this.#server.maxConnections = MOST_CLIENTS;
  }

  /** `owner`: who else than the user of this process can connect; null: no other user can. */
  listen(path: string, owner: HostUser | null): Promise<void> {
    return new Promise((resolve, reject) => {
      // Also for good: a client that cannot be accepted does not end the supervisor.
      this.#server.on('error', reject).listen(path, () => {
        chmodSync(path, 0o600);
        if (owner !== null) chownSync(path, owner.uid, owner.gid);
        resolve();
      });
    });
  }

  #accept(client: Socket): void {
    this.#clients.add(client);
    this.#reads += 1;
    client.on('data', () => {
      this.#reads += 1;
    });
    const silent = setTimeout(() => this.#listeners.add(client), HOOK_GONE_MS);
    client.once('data', () => clearTimeout(silent));
    client.on('error', () => client.destroy());
    client.on('close', () => {
      clearTimeout(silent);
      for (const known of [this.#clients, this.#hooks, this.#listeners]) known.delete(client);
    });
    eachLine(client, (line) => this.#receive(client, line));
  }

  #receive(client: Socket, line: string): void {
    if (line.trim() === '') return;
    const { reported, problems, hook, received } = understand(line);
    if (problems.length > 0) send(client, { problems });
    if (hook !== null) {
      this.#clients.delete(client);
      this.#listeners.delete(client);
      this.#hooks.add(client);
      const onGone: HookClient['onGone'] = (listener) => void client.once('close', listener);
      this.#handlers.onHook(hook, { answer: (answer) => send(client, answer), onGone });
      return;
    }
    this.#listeners.add(client);
    if (received !== null) this.#awaited.get(received)?.('confirmed');
    if (Object.keys(reported).length > 0) this.#handlers.onReport(reported);
  }

  /** Reads what has been sent so far: the last words of a process that has ended may still be unread. */
  async drain(): Promise<void> {
    for (let turns = 0, quiet = 0; quiet < QUIET_TURNS && turns < MOST_TURNS; turns += 1) {
      const before = this.#reads;
      await nextTurn();
      quiet = this.#reads === before ? quiet + 1 : 0;
    }
  }

  /** A program listens. One that has only just connected may be a hook, and does not count yet. */
  hasClient(): boolean {
    return this.#listeners.size > 0;
  }

  /** To all clients but hooks; false: there are none. A hook that has not sent its request yet ignores it. */
  push = (message: Push): boolean => {
    for (const client of this.#clients) send(client, message);
    return this.#clients.size > 0;
  };

  async deliver(text: TextPush, withinMs: number): Promise<Delivery> {
    if (!this.push(text)) return 'no_listener';
    const { promise, resolve } = Promise.withResolvers<Delivery>();
    const timer = setTimeout(() => resolve('unconfirmed'), withinMs);
    this.#awaited.set(text.order_id, resolve);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#awaited.delete(text.order_id);
    }
  }

  /** No confirmation can come after it. */
  close(): Promise<void> {
    for (const resolve of this.#awaited.values()) resolve('unconfirmed');
    for (const client of [...this.#clients, ...this.#hooks]) client.destroy();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

/** Agents of root may have other users: each of them finds its own socket by its path. */
const makeSocketDir = (dir: string): void => {
  makeFolder(dir, 'set TMPDIR to a folder of your own');
  chmodSync(dir, process.getuid?.() === 0 ? 0o711 : 0o700);
};

export const openSocket = async (
  path: string,
  handlers: SocketHandlers,
  owner: HostUser | null,
): Promise<AgentSocket> => {
  makeSocketDir(dirname(path));
  rmSync(path, { force: true });
  const socket = new AgentSocket(handlers);
  await socket.listen(path, owner);
  return socket;
};
