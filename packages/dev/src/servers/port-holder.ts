import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A process that listens on a port. `vigil`: the folder of the clone that it belongs to; null: it is another program. */
export type PortHolder = { readonly pid: number; readonly command: string; readonly vigil: string | null };

const LISTENING = '0A';

/** The inodes of the sockets that listen on a port, in the form of /proc/net/tcp. */
export const listenersIn = (table: string, port: number): readonly string[] =>
  table.split('\n').flatMap((line) => {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
    const isIt = state === LISTENING && Number.parseInt(local.split(':').at(-1) ?? '', 16) === port;
    return isIt && inode !== undefined ? [inode] : [];
  });

const attempt = <T>(read: () => T, otherwise: T): T => {
  try {
    return read();
  } catch {
    // A process has ended, or belongs to another user.
    return otherwise;
  }
};

const pidInProc = (port: number): number | null => {
  const tables = ['/proc/net/tcp', '/proc/net/tcp6'].map((file) => attempt(() => readFileSync(file, 'utf8'), ''));
  const sockets = new Set(tables.flatMap((table) => listenersIn(table, port)).map((inode) => `socket:[${inode}]`));
  if (sockets.size === 0) return null;
  const holds = (pid: string): boolean =>
    attempt(() => readdirSync(`/proc/${pid}/fd`), []).some((fd) =>
      sockets.has(attempt(() => readlinkSync(`/proc/${pid}/fd/${fd}`), '')),
    );
  const found = readdirSync('/proc').find((name) => /^\d+$/.test(name) && holds(name));
  return found === undefined ? null : Number(found);
};

/** Where there is no /proc, as on macOS. */
const pidByLsof = (port: number): number | null => {
  const { stdout } = spawnSync('lsof', ['-nP', '-t', `-iTCP:${port}`, '-sTCP:LISTEN'], { encoding: 'utf8' });
  return Number.parseInt(stdout ?? '', 10) || null;
};

const commandOf = (pid: number): string => {
  const fromProc = attempt(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'), null);
  const command = fromProc ?? spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '';
  return command.replaceAll('\0', ' ').trim();
};

/** The clone in whose folders a process has its program or its data. */
export const cloneIn = (command: string): string | null =>
  /(?:^|[\s=:,])(\/\S*?)\/\.(?:vigil|cache)\//.exec(command)?.[1] ?? null;

/** The process that listens on a port of this machine; null: there is none, or it cannot be seen. */
export const holderOf = (port: number): PortHolder | null => {
  const pid = process.platform === 'linux' ? pidInProc(port) : pidByLsof(port);
  if (pid === null) return null;
  const command = commandOf(pid);
  return { pid, command, vigil: cloneIn(command) };
};
