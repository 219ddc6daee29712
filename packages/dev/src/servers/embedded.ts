import path from 'node:path';
import { type RunDaemon, runOnce } from '../processes/supervise-daemon.ts';
import { endWithUs } from '../processes/survivors.ts';
import { keepFilesPrivate, makePrivateFolder } from './kept-secret.ts';
import { endLeftServers } from './local.ts';
import { freePorts, orPortInUse, requireFree } from './ports.ts';
import { startPostgres } from './postgres.ts';
import { requireDisk } from './requirements.ts';
import type { EmbeddedServers, Environment } from './running-servers.ts';

const DISK_BYTES = 5e8;
const INSTEAD = 'DATABASE_URL of a Postgres of your own';

export type EmbeddedOptions = {
  /** the folder of the log, of Postgres and of its logs and pid files */
  readonly dir: string;
  /** of Postgres, where the environment gives none */
  readonly port: number;
  readonly env: Environment;
  readonly run: RunDaemon;
  readonly report: (line: string) => void;
};

const startDatabase = async ({ dir, port, env, run, report }: EmbeddedOptions) => {
  const { DATABASE_URL, DATABASE_PASSWORD_FILE } = env;
  if (DATABASE_URL) {
    report('using the Postgres of DATABASE_URL');
    const given = { DATABASE_URL, ...(DATABASE_PASSWORD_FILE ? { DATABASE_PASSWORD_FILE } : {}) };
    return { env: given, stop: async () => undefined };
  }
  const left = await endLeftServers(dir);
  if (left.length > 0) report(`ended what an earlier run left: ${left.join(', ')}`);
  requireDisk(dir, DISK_BYTES);
  const use = { port, what: 'Postgres', instead: INSTEAD };
  await requireFree(use);
  report('starting Postgres …');
  endWithUs(dir, 'postgres');
  const { url, stop } = await orPortInUse(startPostgres({ dir, port, run }), [use], () => endLeftServers(dir));
  return { env: { DATABASE_URL: url }, stop };
};

/** The log in a file of `dir`, and Postgres: that of DATABASE_URL, or a process of this machine with its data in `dir`. */
export const startEmbeddedServers = async (options: EmbeddedOptions): Promise<EmbeddedServers> => {
  keepFilesPrivate();
  makePrivateFolder(options.dir);
  const database = await startDatabase(options);
  const log = {
    VIGIL_LOG_FILE: path.join(options.dir, 'log.db'),
    VIGIL_PARTITIONS: options.env.VIGIL_PARTITIONS || '4',
  };
  return { env: { ...log, ...database.env }, identityOf: () => ({}), stop: database.stop };
};

/** For a test: on a free port, and started once. `dir`: an own folder, which the caller removes. */
export const startTestEmbedded = async (
  options: Pick<EmbeddedOptions, 'dir' | 'env' | 'report'>,
): Promise<EmbeddedServers> => {
  const [port = 0] = await freePorts(1);
  return startEmbeddedServers({ ...options, port, run: runOnce });
};
