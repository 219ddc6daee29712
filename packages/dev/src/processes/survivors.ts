import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { endProcess, fileOf, livingIn, writePid } from './pid-file.ts';

const self = fileURLToPath(import.meta.url);

/**
 * Reads names of pid files until its input ends, which shows that its owner is gone. Processes that the owner has ended
 * have no pid file; the script ends the others. It reads the pids at once, because the next run may use the names while Node
 * starts. It is a shell script, because it waits as long as its owner runs and needs only one megabyte.
 */
const WATCH = `
node=$1; shift
while IFS= read -r file; do set -- "$@" "$file"; done
left=
for file do if [ -e "$file" ]; then left="$left$file
$(cat "$file")
"; fi; done
[ -z "$left" ] || printf %s "$left" | "$node" "$0"`;

let watcher: ChildProcess | null = null;

const startWatcher = (): ChildProcess => {
  // Detached, so that a signal to the owner's whole group does not end it. Only the owner has the other end of its input.
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

/** Ends every process with that name when this process is gone, also one that another process has restarted. */
export const endWithUs = (dir: string, name: string): void => {
  watcher ??= startWatcher();
  watcher.stdin?.write(`${path.resolve(fileOf(dir, name))}\n`);
};

/** The same for a child that is never restarted. */
export const endChildWithUs = (dir: string, name: string, child: ChildProcess): void => {
  endWithUs(dir, name);
  if (child.pid !== undefined) writePid(dir, name, child.pid);
};

/**
 * How the servers end, in this order: the registry before the database that it uses. Other processes end before them,
 * by SIGTERM.
 */
export const SERVERS: ReadonlyMap<string, NodeJS.Signals> = new Map([
  ['kafka', 'SIGTERM'],
  // A node without its quorum takes long to end, and the data of a cluster is not read again.
  ['kafka-1', 'SIGKILL'],
  ['kafka-2', 'SIGKILL'],
  ['kafka-3', 'SIGKILL'],
  ['registry', 'SIGTERM'],
  ['postgres', 'SIGINT'],
]);

/** `lines`: by turns a pid file, and what it contained when its owner was gone. */
const endAll = async (lines: readonly string[]): Promise<void> => {
  const left = lines.flatMap((file, n) => {
    const pid = n % 2 === 0 ? livingIn(lines[n + 1] ?? '') : null;
    return pid === null ? [] : [{ dir: path.dirname(path.dirname(file)), name: path.basename(file, '.pid'), pid }];
  });
  const others = left.filter(({ name }) => !SERVERS.has(name));
  await Promise.all(others.map(({ dir, name, pid }) => endProcess(dir, name, 'SIGTERM', undefined, pid)));
  for (const [server, signal] of SERVERS)
    for (const { dir, name, pid } of left) if (name === server) await endProcess(dir, name, signal, undefined, pid);
};

if (import.meta.main) await endAll((await text(process.stdin)).split('\n'));
