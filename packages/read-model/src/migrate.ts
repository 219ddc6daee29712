import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import { asUnreachable } from './errors.ts';

const folder = fileURLToPath(new URL('../migrations', import.meta.url));
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/**
 * Brings a database to this code's tables, in one transaction; two callers at once wait for each other. Nothing to do is fine.
 * `onProgress` hears the name of each migration that was applied. Throws DatabaseUnreachable.
 */
export async function migrate(databaseUrl: string, onProgress: (applied: string) => void = () => {}): Promise<void> {
  // The library does not wait for the end of a connection of its own: what drops the database next would break it.
  const dbClient = new pg.Client({ connectionString: databaseUrl });
  dbClient.on('error', () => {});
  try {
    await dbClient.connect();
    const applied = await runner({
      dbClient,
      dir: folder,
      direction: 'up',
      migrationsTable: 'migrations',
      advisoryLockMode: 'wait',
      logger: silent,
    });
    for (const { name } of applied) onProgress(name);
  } catch (cause) {
    throw asUnreachable(databaseUrl, cause);
  } finally {
    await dbClient.end();
  }
}
