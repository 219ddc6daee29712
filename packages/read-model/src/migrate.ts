import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import { asUnreachable } from './errors.ts';

const folder = fileURLToPath(new URL('../migrations', import.meta.url));
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/**
 * Brings a database to this code's tables, in one transaction; two callers at once wait for each other. Nothing to do is fine.
 * `onProgress` hears the name of each migration that was applied. Throws DatabaseUnreachable.
 */
export async function migrate(databaseUrl: string, onProgress: (applied: string) => void = () => {}): Promise<void> {
  const applied = await runner({
    databaseUrl,
    dir: folder,
    direction: 'up',
    migrationsTable: 'migrations',
    advisoryLockMode: 'wait',
    logger: silent,
  }).catch((cause) => {
    throw asUnreachable(databaseUrl, cause);
  });
  for (const { name } of applied) onProgress(name);
}
