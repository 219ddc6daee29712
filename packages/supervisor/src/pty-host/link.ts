import { lstatSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import {
  eachMessage,
  type FromPtyHost,
  type Hello,
  type HostedAgent,
  type ToPtyHost,
  writeMessage,
} from './protocol.ts';
import type { Chunk } from './ring.ts';

/** The PTY host has refused the connection: why, and what to do about it. */
export class PtyHostRefused extends Error {
  override readonly name = 'HolderRefused';
}

/** A connection to a PTY host. Its messages wait until there is a listener. */
export type Link = {
  readonly hosted: HostedAgent;
  /** resolves with the kept output when all of it has arrived; the listener receives it as well */
  readonly kept: Promise<readonly Chunk[]>;
  readonly send: (message: ToPtyHost) => void;
  readonly listen: (onMessage: (message: FromPtyHost) => void) => void;
  /** reads no further until resumed; output waits in the PTY host, within its limit */
  readonly pause: () => void;
  readonly resume: () => void;
  /** resolves when it is over, by whichever side */
  readonly closed: Promise<void>;
  readonly close: () => void;
  /** the same, where the agent works on without us */
  readonly leave: () => void;
  readonly isLeft: () => boolean;
};

/** Generous, because a busy host does not mean a broken PTY host: a supervisor that takes an agent over would end both. Milliseconds. */
const answerMs = 60_000;

const chunksIn = (messages: readonly FromPtyHost[]): Chunk[] =>
  messages.flatMap((one) => ('output' in one ? [{ ...one, data: Buffer.from(one.output, 'base64') }] : []));

const isAllKept = ({ first, next }: HostedAgent, waiting: readonly FromPtyHost[]): boolean => {
  const last = chunksIn(waiting.slice(-1)).at(0);
  return (last ? last.from + last.data.length : first) >= next;
};

const linkOver = (socket: Socket, hosted: HostedAgent): Link & Inlet => {
  const waiting: FromPtyHost[] = [];
  let listener: ((message: FromPtyHost) => void) | null = null;
  let isLeft = false;
  const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  const { promise: kept, resolve: allKept } = Promise.withResolvers<readonly Chunk[]>();
  const look = () => isAllKept(hosted, waiting) && allKept(chunksIn(waiting));
  look();
  void closed.then(() => allKept(chunksIn(waiting)));
  return {
    hosted,
    kept,
    send: (message) => void (socket.writable && writeMessage(socket, message)),
    listen: (onMessage) => {
      listener = onMessage;
      waiting.splice(0).forEach(onMessage);
    },
    receive: (message) => {
      if (listener) return listener(message);
      waiting.push(message);
      look();
    },
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    closed,
    close: () => void socket.end(),
    leave: () => {
      isLeft = true;
      socket.end();
    },
    isLeft: () => isLeft,
  };
};
type Inlet = { readonly receive: (message: FromPtyHost) => void };

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
    let link: (Link & Inlet) | null = null;
    const socket = createConnection(path, () => writeMessage(socket, { hello }));
    const late = setTimeout(() => socket.destroy(new Error(`the PTY host at ${path} does not answer`)), answerMs);
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
        link = linkOver(socket, message.hosted);
        resolve(link);
      } else socket.destroy(new Error(`what listens at ${path} is not a PTY host`));
    });
  });
