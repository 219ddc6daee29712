import { createHash } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { makeOwnFolder } from '../state/own-folder.ts';
import { longestLine, type ReportedFields, understand } from './agent-report.ts';
import type { HookAnswer, HookMessage } from './hook-messages.ts';

/** A text for the agent. A listener that has it answers `{"received": order_id}`. */
export type TextPush = { readonly order_id: string } & (
  | { readonly nudge: string }
  | { readonly probe: string; readonly message: string }
  | { readonly type: 'handoff_request'; readonly message: string; readonly deadline_ms: number }
);

/** What a supervisor pushes to the listeners on VIGIL_SOCKET, one JSON object a line. */
export type Push =
  | TextPush
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

/** `unheard`: no program listens. `unconfirmed`: a program listens, and none has confirmed the text in time. */
export type Delivery = 'unheard' | 'confirmed' | 'unconfirmed';

export type AgentSocket = {
  /** a program listens: it has sent something and is not a hook */
  readonly hasClient: () => boolean;
  /** to all listeners; false: there are none */
  readonly push: (message: Push) => boolean;
  readonly deliver: (text: TextPush, withinMs: number) => Promise<Delivery>;
  readonly close: () => Promise<void>;
};

/** An agent and its helpers; more at once are turned away. */
const mostClients = 64;
/** Bytes that wait for a client; one that does not read and exceeds this is cut off. */
const mostUnread = 1 << 20;

const send = (client: Socket, message: Push | HookAnswer): void => {
  if (client.writableLength > mostUnread) client.destroy();
  else client.write(`${JSON.stringify(message)}\n`);
};

/** The memory of all agents of the host is the supervisor's own: of a line without end no more is kept than shows that it is too long. */
const eachLine = (client: Socket, onLine: (line: string) => void): void => {
  let rest = '';
  client.setEncoding('utf8');
  client.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = (lines.pop() ?? '').slice(0, longestLine + 1);
    lines.forEach(onLine);
  });
  client.on('end', () => onLine(rest));
};

const hookAt = (client: Socket): HookClient => ({
  answer: (answer) => send(client, answer),
  onGone: (listener) => void client.once('close', listener),
});

type Listening = { readonly listeners: Set<Socket>; readonly onReceived: (orderId: string) => void };

const listen = (client: Socket, { listeners, onReceived }: Listening, { onReport, onHook }: SocketHandlers): void =>
  eachLine(client, (line) => {
    if (line.trim() === '') return;
    const { reported, problems, hook, received } = understand(line);
    if (problems.length > 0) send(client, { problems });
    if (hook !== null) return onHook(hook, hookAt(client));
    // Until its first word it may be a hook, which would take a text with it into the grave.
    listeners.add(client);
    if (received !== null) onReceived(received);
    if (Object.keys(reported).length > 0) onReport(reported);
  });

/** Texts whose confirmation is awaited, by their order. */
class Confirmations {
  readonly #awaited = new Map<string, (delivery: Delivery) => void>();

  received = (orderId: string): void => this.#awaited.get(orderId)?.('confirmed');

  async of(orderId: string, withinMs: number): Promise<Delivery> {
    const { promise, resolve } = Promise.withResolvers<Delivery>();
    const timer = setTimeout(() => resolve('unconfirmed'), withinMs);
    this.#awaited.set(orderId, resolve);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#awaited.delete(orderId);
    }
  }

  /** A confirmation can no longer come. */
  close(): void {
    for (const resolve of this.#awaited.values()) resolve('unconfirmed');
  }
}

const listening = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    // Also for good: a client that cannot be accepted does not end the supervisor.
    server.on('error', reject).listen(path, () => {
      chmodSync(path, 0o600);
      resolve();
    });
  });

/** Socket paths are limited to 107 bytes, so an instance is named by a digest in it. */
export const socketPath = (dir: string, instanceId: string): string =>
  join(dir, `${createHash('sha256').update(instanceId).digest('hex').slice(0, 16)}.sock`);

/** Where an agent and its helpers report themselves: a Unix socket with JSON Lines of partial heartbeats. */
export const openSocket = async (path: string, socketHandlers: SocketHandlers): Promise<AgentSocket> => {
  const clients = new Set<Socket>();
  const listeners = new Set<Socket>();
  const confirmations = new Confirmations();
  const server = createServer((client) => {
    clients.add(client);
    client.on('error', () => client.destroy());
    client.on('close', () => {
      clients.delete(client);
      listeners.delete(client);
    });
    listen(client, { listeners, onReceived: confirmations.received }, socketHandlers);
  });
  server.maxConnections = mostClients;
  makeOwnFolder(dirname(path), 'set TMPDIR to a folder of your own');
  rmSync(path, { force: true });
  await listening(server, path);
  const push = (message: Push): boolean => {
    for (const client of listeners) send(client, message);
    return listeners.size > 0;
  };
  return {
    hasClient: () => listeners.size > 0,
    push,
    deliver: async (text, withinMs) => (push(text) ? confirmations.of(text.order_id, withinMs) : 'unheard'),
    close: () => {
      confirmations.close();
      for (const client of clients) client.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
};
