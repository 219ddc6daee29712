import { renameSync, writeFileSync } from 'node:fs';

/**
 * Writes the whole file atomically, so that concurrent readers and writers never see a part. Throws if the disk
 * accepts nothing.
 */
export const replace = (path: string, text: string): void => {
  const fresh = `${path}.${process.pid}`;
  writeFileSync(fresh, text, { mode: 0o600 });
  renameSync(fresh, path);
};
