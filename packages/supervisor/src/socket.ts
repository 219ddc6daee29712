import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { WrongSettings } from './errors.ts';
import { longestLine, type Said, understand } from './said.ts';

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

/** An agent and its helpers; more at once are turned away. */
const mostClients = 64;
/** Bytes that wait for a client; one that is told so much and reads nothing is cut off. */
const mostUnread = 1 << 20;

const send = (client: Socket, message: Push): void => {
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

const listen = (client: Socket, onSaid: (said: Said) => void): void =>
  eachLine(client, (line) => {
    if (line.trim() === '') return;
    const { said, problems } = understand(line);
    if (problems.length > 0) send(client, { problems });
    if (Object.keys(said).length > 0) onSaid(said);
  });

/** In a folder that everybody may write to, somebody else may have been first. Throws WrongSettings. */
const makeOwnFolder = (path: string): void => {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const found = lstatSync(path);
  if (!found.isDirectory() || found.uid !== process.getuid?.())
    throw new WrongSettings(`${path} is not a folder of ours: remove it, or set TMPDIR to a folder of your own`);
  chmodSync(path, 0o700);
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
  server.maxConnections = mostClients;
  makeOwnFolder(dirname(path));
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
