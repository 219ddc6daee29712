import { createServer, type Server } from 'node:net';
import { Refusal } from '../refusal.ts';
import { holderOf } from './port-holder.ts';

const HOST = '127.0.0.1';
const LONGEST_COMMAND = 120;

/** The variable that moves every port of `npm start`, so that two clones run side by side. */
export const PORT_OFFSET = 'VIGIL_PORT_OFFSET';
/** The highest port of `npm start` is 19093. */
const LARGEST_OFFSET = 40_000;

/** By how much the ports of `npm start` are moved. Throws Refusal for a value that is not such a number. */
export const portOffsetOf = (env: Readonly<Record<string, string | undefined>>): number => {
  const text = env[PORT_OFFSET] || '0';
  const offset = Number(text);
  if (/^\d+$/.test(text) && offset <= LARGEST_OFFSET) return offset;
  throw new Refusal(
    `${PORT_OFFSET} is ${JSON.stringify(text)}: give a whole number up to ${LARGEST_OFFSET}, such as 100`,
  );
};

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

/** What would use a port, and what a person can give instead of it. */
export type PortUse = { readonly port: number; readonly what: string; readonly instead: string | null };

const SIDE_BY_SIDE = `start this one with ${PORT_OFFSET}=100, and both run side by side`;

const inUse = ({ port, what, instead }: PortUse): Refusal => {
  const holder = holderOf(port);
  const start = `port ${port}, meant for ${what}, is in use by`;
  if (holder === null)
    return new Refusal(
      `${start} a program that cannot be seen from here: end it, or ${SIDE_BY_SIDE}${orGive(instead)}`,
    );
  const { pid, command, vigil } = holder;
  const shown = `process ${pid} (${command.slice(0, LONGEST_COMMAND)})`;
  if (vigil !== null)
    return new Refusal(
      `${start} ${shown} of the Vigil in ${vigil}: end that one (Ctrl-C where its npm start runs), or ${SIDE_BY_SIDE}`,
    );
  return new Refusal(`${start} ${shown}: end it, or ${SIDE_BY_SIDE}${orGive(instead)}`);
};

const orGive = (instead: string | null): string => (instead === null ? '' : `, or give ${instead}`);

/** Refuses a port that another program uses, before anything is started. */
export const requireFree = async (use: PortUse): Promise<void> => {
  const server = await listen(use.port).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EADDRINUSE' ? inUse(use) : error;
  });
  await close(server);
};

/** The same for several ports. */
export const requireAllFree = async (uses: readonly PortUse[]): Promise<void> => {
  for (const use of uses) await requireFree(use);
};

/** A start that has failed because another program took a port in the meantime fails with that reason. */
export const orPortInUse = async <T>(
  start: Promise<T>,
  uses: readonly PortUse[],
  end: () => Promise<unknown>,
): Promise<T> => {
  try {
    return await start;
  } catch (error) {
    await end();
    await requireAllFree(uses);
    throw error;
  }
};
