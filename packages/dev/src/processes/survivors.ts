import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { endProcess, fileOf, livingPid, writePid } from './pid-file.ts';

const self = fileURLToPath(import.meta.url);

/**
 * Reads names of pid files until its input ends: then its owner is gone, in any way. A process that the owner has ended
 * has no pid file any more; the rest is ended. A shell, since it waits as long as its owner runs: it needs one
 * megabyte.
 */
const WATCH = `
node=$1; shift
while IFS= read -r file; do set -- "$@" "$file"; done
for file do if [ -e "$file" ]; then exec "$node" "$0" "$@"; fi; done`;

let watcher: ChildProcess | null = null;

const startWatcher = (): ChildProcess => {
  // Detached: what ends the owner's whole group must leave it. Only the owner holds the other end of its input.
  const child = spawn('/bin/sh', ['-c', WATCH, self, process.execPath], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.once('error', () => undefined);
  child.stdin.on('error', () => undefined);
  child.unref();
  (child.stdin as Socket).unref();
  return child;
};

/**
 * Any process of that name is ended when this process is gone, in any way: also one that another process has started
 * again.
 */
export const endWithUs = (dir: string, name: string): void => {
  watcher ??= startWatcher();
  watcher.stdin?.write(`${path.resolve(fileOf(dir, name))}\n`);
};

/** The same for a child that is not restarted. */
export const endChildWithUs = (dir: string, name: string, child: ChildProcess): void => {
  endWithUs(dir, name);
  if (child.pid !== undefined) writePid(dir, name, child.pid);
};

/** How the servers end, in this order: the registry before the database it writes to. Anything else ends by SIGTERM, before them. */
export const SERVERS: ReadonlyMap<string, NodeJS.Signals> = new Map([
  ['kafka', 'SIGTERM'],
  // A node that cannot reach its quorum any more takes long to end, and the data of a cluster is not read again.
  ['kafka-1', 'SIGKILL'],
  ['kafka-2', 'SIGKILL'],
  ['kafka-3', 'SIGKILL'],
  ['registry', 'SIGTERM'],
  ['postgres', 'SIGINT'],
]);

const endAll = async (files: readonly string[]): Promise<void> => {
  // Whom they name now: the next run may take the names while these end.
  const left = files.map((file) => {
    const [dir, name] = [path.dirname(path.dirname(file)), path.basename(file, '.pid')];
    return { dir, name, pid: livingPid(dir, name) };
  });
  const others = left.filter(({ name }) => !SERVERS.has(name));
  await Promise.all(others.map(({ dir, name, pid }) => endProcess(dir, name, 'SIGTERM', undefined, pid)));
  for (const [server, signal] of SERVERS)
    for (const { dir, name, pid } of left) if (name === server) await endProcess(dir, name, signal, undefined, pid);
};

if (import.meta.main) await endAll(process.argv.slice(2));
