import { createServer, type Server } from 'node:net';
import { Refusal } from '../refusal.ts';

const HOST = '127.0.0.1';

const listen = (port: number): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, HOST, () => resolve(server));
  });

const close = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));

const portOf = (server: Server): number => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a listening TCP server has a port');
  return address.port;
};

export type Ports = {
  readonly kafka: number;
  readonly controller: number;
  readonly registry: number;
  readonly postgres: number;
};

/** Free ports of the loopback, all different. */
export const freePorts = async (count: number): Promise<readonly number[]> => {
  const servers = await Promise.all(Array.from({ length: count }, () => listen(0)));
  const ports = servers.map(portOf);
  await Promise.all(servers.map(close));
  return ports;
};

/** Refuses a port that another program uses, before anything is started. */
export const requireFree = async (port: number, what: string, remedy: string): Promise<void> => {
  const server = await listen(port).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRINUSE')
      throw new Refusal(`port ${port}, meant for ${what}, is in use by another program: ${remedy}`);
    throw error;
  });
  await close(server);
};
