import { setTimeout as sleep } from 'node:timers/promises';
import { type Codec, type HealthEvent, RegistryTrouble, UnknownSchemaId } from '@vigil/events';
import { eventOf } from './inputs.ts';
import type { LogRecord } from './log.ts';

/** The registry is queried again after this long for a schema that it did not answer for, milliseconds. */
export const REGISTRY_RETRY_MS = 1000;

/** Does it again after what it did not know was learned. Throws what `learn` throws. */
export const retryLearning = async <T>(codec: Codec, job: () => T): Promise<T> => {
  for (;;) {
    try {
      return job();
    } catch (error) {
      if (!(error instanceof UnknownSchemaId)) throw error;
      await codec.learn(error);
    }
  }
};

/** Marks of the runners and tombstones have no meaning for readers outside. */
export const isEvent = ({ key, value }: LogRecord): boolean => value !== null && key !== null && !key.startsWith('@');

/** Decodes a record, learning its schema first where need be. Throws DeadLetter or Undecodable where it cannot be read, RegistryTrouble where the registry does not answer. */
export const readEvent = (codec: Codec, record: LogRecord): Promise<HealthEvent> =>
  retryLearning(codec, () => eventOf(record, codec));

/** Decodes records, and waits where the registry does not answer for a schema, until the signal is aborted. */
export class WaitingReader {
  readonly #codec: Codec;
  readonly #signal: AbortSignal;
  readonly #begun = new Set<LogRecord>();

  constructor(codec: Codec, signal: AbortSignal) {
    this.#codec = codec;
    this.#signal = signal;
  }

  /** the unread records: those that wait for the registry */
  get waiting(): readonly LogRecord[] {
    return [...this.#begun];
  }

  /** null: the signal came first. Throws DeadLetter or Undecodable where the record cannot be read. */
  async read(record: LogRecord): Promise<HealthEvent | null> {
    this.#begun.add(record);
    try {
      while (!this.#signal.aborted) {
        const read = await this.#try(record);
        if (read !== null) return read;
        await sleep(REGISTRY_RETRY_MS, undefined, { signal: this.#signal }).catch(() => {});
      }
      return null;
    } finally {
      this.#begun.delete(record);
    }
  }

  async #try(record: LogRecord): Promise<HealthEvent | null> {
    try {
      return await readEvent(this.#codec, record);
    } catch (error) {
      if (error instanceof RegistryTrouble) return null;
      throw error;
    }
  }
}
