import { randomBytes } from 'node:crypto';
import { type Database, openDatabase } from './database.ts';
import { tables } from './generated/tables.ts';
import { migrate } from './migrate.ts';

type Scratch = Database & AsyncDisposable & { readonly url: string };

/** An empty read model on the server of DATABASE_URL. Disposal drops it. */
export const scratchReadModel = async (): Promise<Scratch> => {
  const database = await scratchDatabase();
  await migrate(database.url);
  return database;
};

/** A database without tables. Disposal drops it. */
export const scratchDatabase = async (): Promise<Scratch> => {
  const server = process.env.DATABASE_URL;
  if (server === undefined) throw new Error('DATABASE_URL is not set: run it by `npm test`, which starts Postgres');
  const name = `vigil_test_${randomBytes(6).toString('hex')}`;
  const admin = await openDatabase(server, () => {}, 0);
  await admin.query(`CREATE DATABASE ${name}`);
  const url = Object.assign(new URL(server), { pathname: `/${name}` }).href;
  const database = await openDatabase(url, () => {}, 0);
  return {
    ...database,
    url,
    [Symbol.asyncDispose]: async () => {
      await database.close();
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await admin.close();
    },
  };
};

/** Every row of every table that events write, for comparisons of two databases. */
export const dump = async (database: Database): Promise<Readonly<Record<string, readonly unknown[]>>> => {
  const names = Object.keys(tables);
  const rows = await Promise.all(
    names.map((table) => database.query(`SELECT to_jsonb(t) AS row FROM ${table} t ORDER BY to_jsonb(t)::text`)),
  );
  return Object.fromEntries(names.map((table, i) => [table, rows[i]?.rows.map(({ row }) => row) ?? []]));
};
