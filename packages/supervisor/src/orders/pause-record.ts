import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Until when an instance is held, epoch milliseconds: on the disk, for the supervisor that comes after this one. */
export type PauseRecord = {
  /** null: it is not held */
  readonly read: () => number | null;
  /** Throws where the disk does not take it: then it must not be held. */
  readonly write: (until: number) => void;
  readonly clear: () => void;
};

const untilIn = (path: string): number | null => {
  try {
    const { until } = JSON.parse(readFileSync(path, 'utf8')) as { until?: unknown };
    return typeof until === 'number' ? until : null;
  } catch {
    return null;
  }
};

/** One file an instance; there is one while it is held. */
export const pauseRecordOf = (dir: string, instanceId: string): PauseRecord => {
  const folder = join(dir, 'pauses');
  const path = join(folder, `${instanceId}.json`);
  return {
    read: () => untilIn(path),
    write: (until) => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileSync(`${path}.new`, JSON.stringify({ until }), { flush: true });
      renameSync(`${path}.new`, path);
    },
    clear: () => rmSync(path, { force: true }),
  };
};
