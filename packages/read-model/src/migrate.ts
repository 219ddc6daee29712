import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import { asUnreachable } from './database.ts';
import { PRESENT } from './schemas.ts';

const folder = fileURLToPath(new URL('../migrations', import.meta.url));
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/**
 * Migrates a database to the tables of this code, in one transaction. Concurrent callers wait for each other. An
 * up-to-date database does not change. `schema`: it is created if it is not the present one. `onProgress` receives the name of each applied migration. Throws
 * DatabaseUnreachable.
 */
export const migrate = async (
  databaseUrl: string,
  onProgress: (applied: string) => void = () => {},
  schema: string = PRESENT,
): Promise<void> => {
  // The library does not wait for the end of its own connection, so dropping the database right afterwards would break it.
  const dbClient = new pg.Client({ connectionString: databaseUrl });
  dbClient.on('error', () => {});
  try {
    await dbClient.connect();
    const applied = await runner({
      dbClient,
      dir: folder,
      direction: 'up',
      migrationsTable: 'migrations',
      schema,
      migrationsSchema: schema,
      createSchema: schema !== PRESENT,
      createMigrationsSchema: schema !== PRESENT,
      advisoryLockMode: 'wait',
      logger: silent,
    });
    for (const { name } of applied) onProgress(name);
  } catch (cause) {
    throw asUnreachable(databaseUrl, cause);
  } finally {
    await dbClient.end();
  }
};
