import { type Codec, type DeadLetter as DeadLetterPayload, Undecodable } from '@vigil/events';
import { DeadLetter } from '../errors.ts';
import type { Count } from '../metrics.ts';
import type { Log, LogRecord, OutRecord } from './log.ts';
import { partitionOf } from './partitioner.ts';

/** The largest part of a value that is kept, bytes. */
export const VALUE_CAP = 64 * 1024;

/** A key may be as long as a record. A key that is not an id is cut to this many characters. */
const KEY_CAP = 1000;

export const deadLetterTopic = (service: string): string => `onex.dlq.${service}.dead-letter.v1`;

/** Whether the error states what is wrong with the record; any other error is a fault of Vigil. */
export const isReasoned = (error: unknown): error is DeadLetter | Undecodable =>
  error instanceof DeadLetter || error instanceof Undecodable;

/**
 * The dead letter of a record. `otherwise`: the reason for an error that has none, which is a fault of Vigil.
 * `partitions`: the partition count of the dead-letter topic.
 */
export const deadLetterOf = (
  { codec, service, partitions }: { readonly codec: Codec; readonly service: string; readonly partitions: number },
  record: LogRecord,
  error: unknown,
  otherwise: string,
  now: number,
): OutRecord => {
  const topic = deadLetterTopic(service);
  const payload: DeadLetterPayload = {
    original_topic: record.topic,
    original_message: {
      key: record.key?.slice(0, KEY_CAP) ?? null,
      value: record.value === null ? null : record.value.subarray(0, VALUE_CAP),
      truncated: (record.value?.length ?? 0) > VALUE_CAP,
      offset: record.offset,
      partition: record.partition,
    },
    original_timestamp: record.timestamp,
    failure_reason: isReasoned(error) ? error.reason : otherwise,
    failure_timestamp: now,
    correlation_id: null,
    retry_count: 0,
    error_type: (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(0, 1000),
  };
  const value = codec.encode({ topic, type: 'DEAD_LETTER', payload } as Parameters<Codec['encode']>[0]);
  const { key } = payload.original_message;
  return { topic, partition: partitionOf(key ?? '', partitions), key, value };
};

/** Writes and counts the dead letter of a record, outside transactions: for runners with effects outside the log. */
export const writeDeadLetter = async (
  log: Log,
  { service, group, count }: { readonly service: string; readonly group: string; readonly count: Count },
  record: LogRecord,
  error: unknown,
  otherwise: string,
): Promise<void> => {
  const partitions = await log.partitionCount(deadLetterTopic(service));
  const deadLetters = { codec: log.codec, service, partitions };
  await log.write([deadLetterOf(deadLetters, record, error, otherwise, record.timestamp)]);
  count('dead_letters', 1, group);
};

const IN_A_ROW = 20;
const SHARE = 0.05;
const MINUTE_MS = 60_000;

/**
 * Counts the dead letters of one partition. Above the limits the fault is probably Vigil's, or a person must look at
 * it.
 */
export class DeadLetterLimits {
  #row = 0;
  #minute = 0;
  #records = 0;
  #deadLetters = 0;

  count(dead: boolean, now: number): void {
    const minute = Math.floor(now / MINUTE_MS);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#records = 0;
      this.#deadLetters = 0;
    }
    this.#records += 1;
    if (dead) this.#deadLetters += 1;
    this.#row = dead ? this.#row + 1 : 0;
  }

  /** The exceeded limit, in words; null where no limit is exceeded. Below 20 dead letters a share has no meaning. */
  get exceeded(): string | null {
    if (this.#row >= IN_A_ROW) return `${this.#row} records in a row are dead letters`;
    if (this.#deadLetters >= IN_A_ROW && this.#deadLetters > SHARE * this.#records)
      return `${this.#deadLetters} of the ${this.#records} records of this minute are dead letters`;
    return null;
  }
}
