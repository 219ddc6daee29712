import { type ChildProcessByStdio, type SpawnOptions, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { WrongSettings } from '../errors.ts';
import { identify, type Pid } from '../process/proc.ts';
import { makeOwnFolder } from '../state/own-folder.ts';
import { type Launch, READY } from './protocol.ts';

/** Bytes that a socket's path may have on macOS; Linux takes 107. */
const LONGEST_PATH = 103;

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
  if (length > LONGEST_PATH)
    throw new WrongSettings(
      `${path} is ${length} bytes long, and a Unix socket's path has at most ${LONGEST_PATH}: choose a shorter --dir (VIGIL_STATE_DIR)`,
    );
  makeOwnFolder(folder(dir), 'choose another --dir (VIGIL_STATE_DIR)');
};

const program = fileURLToPath(new URL('./main.ts', import.meta.url));
/** How long it may take to be there, milliseconds: a busy machine, a first start. */
const START_MS = 60_000;

/** The environment without the supervisor's secrets and without the options of its own Node. */
const environment = (dir: string): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? ptyHostCache(dir),
  // a PTY host reads and writes a few bytes at a time
  UV_THREADPOOL_SIZE: '1',
});

type Starting = ChildProcessByStdio<Writable, Readable, null>;

const launched = (child: Starting, launch: Launch, failed: (why: string) => Error): Promise<void> =>
  new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => reject(failed(`is not there after ${START_MS / 1000} s`)), START_MS);
    child.once('error', (error) => reject(failed(`cannot be started: ${error.message}`)));
    child.stdout.once('data', (data: Buffer) => {
      const printed = data.toString();
      if (printed === READY) resolve();
      else reject(failed(`starts no agent: ${printed}`));
    });
    // After all that it has printed.
    child.once('close', (code, signal) => reject(failed(`ended at once (${signal ?? `code ${code}`})`)));
    child.stdout.once('close', () => clearTimeout(late));
    child.stdin.on('error', () => {});
    child.once('spawn', () => child.stdin.end(JSON.stringify(launch)));
  });

/**
 * Starts a process that holds a terminal, and in it the agent. `onPid` gets its number before there is an agent, so
 * that a supervisor that dies meanwhile leaves no unknown agent.
 * @throws the error that prevented the start
 */
export const startPtyHost = async (dir: string, launch: Launch, onPid: (ptyHost: Pid) => void): Promise<void> => {
  makePtyHostFolder(dir);
  const logFd = openSync(ptyHostLog(dir), 'a', 0o600);
  const how = {
    detached: true,
    cwd: '/',
    env: environment(dir),
    stdio: ['pipe', 'pipe', logFd],
  } satisfies SpawnOptions;
  const child = spawn(process.execPath, ['--max-semi-space-size=1', program, launch.agentId], how) as Starting;
  closeSync(logFd);
  try {
    if (child.pid !== undefined) onPid(identify(child.pid));
    await launched(
      child,
      launch,
      (why) => new Error(`the PTY host of ${launch.agentId} ${why}; see ${ptyHostLog(dir)}`),
    );
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  } finally {
    child.stdin.destroy();
    child.stdout.destroy();
    child.unref();
  }
};
