import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CheckpointRef } from '@vigil/events';

/** A checkpoint file below `dir`, and its reference. */
export const checkpointFile = (dir: string, name: string, text: string): CheckpointRef => {
  mkdirSync(dir, { recursive: true });
  const path = join(dir, name);
  writeFileSync(path, text);
  return {
    checkpointId: name,
    parentId: null,
    uri: pathToFileURL(path).href,
    sha256: createHash('sha256').update(text).digest('hex'),
    valid: null,
    invalidReason: null,
    createdAt: null,
    completedWork: [],
    remainingWork: [],
  };
};
