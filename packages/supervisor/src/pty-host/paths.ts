import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { WrongSettings } from '../errors.ts';
import { makeOwnFolder } from '../state/own-folder.ts';

/** Bytes that a socket's path may have on macOS; Linux takes 107. */
const longestPath = 103;

const folder = (dir: string): string => join(dir, 'pty-hosts');

/** Where the PTY host of this instance listens, named by a digest: paths of sockets are short. */
export const ptyHostSocket = (dir: string, instanceId: string): string =>
  join(folder(dir), `${createHash('sha256').update(instanceId).digest('hex').slice(0, 16)}.sock`);

/** Node's compile cache of the PTY host: it starts in half the time, and with 15 MiB less. */
export const ptyHostCache = (dir: string): string => join(folder(dir), 'cache');
export const ptyHostLog = (dir: string): string => join(folder(dir), 'pty-hosts.log');

/**
 * Only the owner of this folder can reach the terminals behind it.
 * @throws WrongSettings where another user owns it, or its name is too long for a socket in it
 */
export const makePtyHostFolder = (dir: string): void => {
  const path = ptyHostSocket(dir, '');
  const length = Buffer.byteLength(path);
  if (length > longestPath)
    throw new WrongSettings(
      `${path} is ${length} bytes long, and a Unix socket's path has at most ${longestPath}: choose a shorter --dir (VIGIL_STATE_DIR)`,
    );
  makeOwnFolder(folder(dir), 'choose another --dir (VIGIL_STATE_DIR)');
};
