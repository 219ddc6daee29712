import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ServiceName } from '@vigil/dev';
import pg from 'pg';
import type { TestSystem } from '../support/system.ts';

/** Makes a part stand still; returns the function that lets it work again. */
export type Fault = (t: TestSystem) => Promise<() => Promise<void>>;

/** A service that stands still (SIGSTOP). */
export const frozen =
  (name: ServiceName): Fault =>
  async ({ system }) => {
    const service = system.service(name);
    service.freeze();
    return async () => service.thaw();
  };

export const brokerFrozen: Fault = async ({ servers: { brokers } }) => {
  const [broker] = brokers;
  if (broker === undefined) throw new Error('the broker is not ours to freeze');
  await broker.kill('SIGSTOP');
  return () => broker.kill('SIGCONT');
};

/** It refuses connections, and ends those that are open. */
export const postgresClosed: Fault = async ({ servers }) => {
  const url = new URL(servers.env.DATABASE_URL);
  const database = url.pathname.slice(1);
  url.pathname = '/postgres';
  const admin = new pg.Client({ connectionString: url.href });
  await admin.connect();
  await admin.query(`ALTER DATABASE ${database} ALLOW_CONNECTIONS false`);
  await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [database]);
  return async () => {
    await admin.query(`ALTER DATABASE ${database} ALLOW_CONNECTIONS true`);
    await admin.end();
  };
};

/** The main process of Postgres: open connections answer, and no new one is taken. */
export const postmasterFrozen: Fault = async ({ sql }) => {
  const { rows } = await sql.query<{ readonly data_directory: string }>('SHOW data_directory');
  const pid = Number.parseInt(readFileSync(path.join(rows[0]?.data_directory ?? '', 'postmaster.pid'), 'utf8'), 10);
  process.kill(pid, 'SIGSTOP');
  return async () => void process.kill(pid, 'SIGCONT');
};
