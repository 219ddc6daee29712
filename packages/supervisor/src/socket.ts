import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Said, understand } from './said.ts';

/** What a supervisor pushes to whoever listens on VIGIL_SOCKET, one JSON object a line. */
export type Push =
  | { readonly nudge: string }
  | { readonly probe: string; readonly message: string }
  | { readonly type: 'handoff_request'; readonly message: string; readonly deadline_ms: number }
  | { readonly type: 'shutdown_request'; readonly reason: string }
  | { readonly type: 'reset_breaker'; readonly name: string }
  | { readonly problems: readonly string[] };

export type AgentSocket = {
  readonly hasClient: () => boolean;
  /** to everybody connected; false: nobody is */
  readonly push: (message: Push) => boolean;
  readonly close: () => Promise<void>;
};

const send = (client: Socket, message: Push): void => void client.write(`${JSON.stringify(message)}\n`);

const listen = (client: Socket, onSaid: (said: Said) => void): void => {
  createInterface({ input: client }).on('line', (line) => {
    if (line.trim() === '') return;
    const { said, problems } = understand(line);
    if (problems.length > 0) send(client, { problems });
    if (Object.keys(said).length > 0) onSaid(said);
  });
};

const listening = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject).listen(path, () => {
      chmodSync(path, 0o600);
      resolve();
    });
  });

/** Socket paths are limited to 107 bytes, so an instance is named by a digest in it. */
export const socketPath = (dir: string, instanceId: string): string =>
  join(dir, `${createHash('sha256').update(instanceId).digest('hex').slice(0, 16)}.sock`);

/** Where an agent and its helpers report themselves: a Unix socket with JSON Lines of partial heartbeats. */
export const openSocket = async (path: string, onSaid: (said: Said) => void): Promise<AgentSocket> => {
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    clients.add(client);
    client.on('error', () => client.destroy()).on('close', () => clients.delete(client));
    listen(client, onSaid);
  });
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  rmSync(path, { force: true });
  await listening(server, path);
  return {
    hasClient: () => clients.size > 0,
    push: (message) => {
      for (const client of clients) send(client, message);
      return clients.size > 0;
    },
    close: () => {
      for (const client of clients) client.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
};
