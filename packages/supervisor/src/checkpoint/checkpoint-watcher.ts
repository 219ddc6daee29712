import { type Checkpoint, holdsOnOneHost } from '@vigil/events';
import type { AgentSpec } from '../agent/agent-spec.ts';
import { validate } from './validate.ts';

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
