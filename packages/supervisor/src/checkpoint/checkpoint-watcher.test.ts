import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Checkpoint } from '@vigil/events';
import { expect, test, vi } from 'vitest';
import { CheckpointWatcher } from './validate.ts';

const dir = mkdtempSync(join(tmpdir(), 'checkpoint-'));
const read: (readonly [string, boolean | null, string | null])[] = [];
const monitor = new CheckpointWatcher({ taskId: 'TASK-1', checkpointRoots: [dir] }, (one) =>
  read.push([one.checkpoint_id, one.valid, one.invalid_reason]),
);
/** Reads one checkpoint after another, and waits for the report about the last. */
const readAll = async (...ids: readonly string[]) => {
  read.length = 0;
  for (const checkpoint_id of ids) {
    const uri = pathToFileURL(join(dir, checkpoint_id)).href;
    monitor.look({ checkpoint_id, uri, sha256: null, valid: null } as Checkpoint);
  }
  await vi.waitFor(() => expect(read.at(-1)?.[0]).toBe(ids.at(-1)), 60_000);
  return read;
};

test('a checkpoint whose file this host does not have is not reported as invalid; it is valid as soon as its file is there', async () => {
  writeFileSync(join(dir, 'there'), 'task_id: TASK-1\n');
  expect(await readAll('late', 'there')).toEqual([['there', true, null]]);
  writeFileSync(join(dir, 'late'), 'task_id: TASK-1\n');
  expect(await readAll('late')).toEqual([['late', true, null]]);
});

test('a checkpoint with wrong content is reported as invalid', async () => {
  writeFileSync(join(dir, 'foreign'), 'task_id: TASK-2\n');
  expect(await readAll('foreign')).toEqual([['foreign', false, 'names_another_task']]);
});
