import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Checkpoint, holdsOnOneHost, isCheckpointAddress } from '@vigil/events';
import { isKnownSchema } from '../adapters/checkpoint-formats.ts';
import type { AgentSpec } from '../agent/agent-spec.ts';
import { contentOf } from './content.ts';

export type CheckpointFile = { readonly uri: string | null; readonly sha256: string | null };
export type Validity =
  | { readonly valid: true; readonly path: string }
  | { readonly valid: false; readonly why: string };

const invalid = (why: string): Validity => ({ valid: false, why });

/** Links are followed first, so that none leads out of the roots. */
const locate = async (uri: string, roots: readonly string[]): Promise<string | null> => {
  const path = await realpath(fileURLToPath(uri));
  const allowed = await Promise.all(roots.map((root) => realpath(root).catch(() => null)));
  return allowed.some((root) => root !== null && path.startsWith(root + sep)) ? path : null;
};

/** Bytes; a larger file is not a checkpoint. */
const LARGEST = 64 << 20;

/**
 * The agent chose the path. A pipe would block one of the few threads forever, so reading never waits. Null: too
 * large.
 */
const read = async (path: string): Promise<Buffer | null> => {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const found = await file.stat();
  if (!found.isFile()) throw new Error(`${path} is not a file`);
  if (found.size > LARGEST) return null;
  const { buffer, bytesRead } = await file.read(Buffer.alloc(found.size), 0, found.size, 0);
  return buffer.subarray(0, bytesRead);
};

const judge = async (bytes: Buffer, path: string, sha256: string | null, taskId: string): Promise<Validity> => {
  if (sha256 !== null && createHash('sha256').update(bytes).digest('hex') !== sha256.toLowerCase())
    return invalid('sha256_differs');
  const found = await contentOf(bytes);
  if (found === null) return invalid('does_not_parse');
  if (!isKnownSchema(found.schema)) return invalid('schema_unknown');
  return found.names.includes(taskId) ? { valid: true, path } : invalid('names_another_task');
};

/**
 * Reads a checkpoint from disk. It has to be a file below one of the roots with its SHA-256, in YAML or JSON, of a
 * known schema, and name this task.
 * `not_here`: it is not a file below the roots. `missing`: there is no file. `unreadable`: it cannot be read now. All
 * three are about this host; another may have the file.
 */
export const validate = async (file: CheckpointFile, roots: readonly string[], taskId: string): Promise<Validity> => {
  if (!file.uri?.startsWith('file:')) return invalid('not_here');
  if (!isCheckpointAddress(file.uri)) return invalid('address_not_allowed');
  try {
    const path = await locate(file.uri, roots);
    if (path === null) return invalid('not_here');
    const bytes = await read(path);
    return bytes === null ? invalid('too_large') : await judge(bytes, path, file.sha256, taskId);
  } catch (error) {
    return invalid((error as NodeJS.ErrnoException).code === 'ENOENT' ? 'missing' : 'unreadable');
  }
};

/**
 * Reads the checkpoints that an agent reports, one at a time. Of those that are reported meanwhile only the newest is
 * read.
 */
export class CheckpointWatcher {
  readonly #spec: Pick<AgentSpec, 'taskId' | 'checkpointRoots'>;
  readonly #onRead: (read: Checkpoint) => void;
  #newest: Checkpoint | null = null;
  #reading: Promise<void> | null = null;

  constructor(spec: Pick<AgentSpec, 'taskId' | 'checkpointRoots'>, onRead: (read: Checkpoint) => void) {
    this.#spec = spec;
    this.#onRead = onRead;
  }

  look(newest: Checkpoint): void {
    this.#newest = newest;
    if (this.#reading !== null) return;
    this.#reading = this.#read(newest).finally(() => {
      this.#reading = null;
      if (this.#newest !== null && this.#newest.checkpoint_id !== newest.checkpoint_id) this.look(this.#newest);
    });
  }

  /** Reports nothing of a checkpoint that this host does not have or cannot read: another host may. */
  async #read(checkpoint: Checkpoint): Promise<void> {
    const { taskId, checkpointRoots } = this.#spec;
    if (checkpoint.valid !== null || taskId === null) return;
    const validity = await validate(checkpoint, checkpointRoots, taskId);
    if (!validity.valid && holdsOnOneHost(validity.why)) return;
    this.#onRead({ ...checkpoint, valid: validity.valid, invalid_reason: validity.valid ? null : validity.why });
  }
}
