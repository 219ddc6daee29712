import { type Codec, type DeadLetter as DeadLetterPayload, Undecodable } from '@vigil/events';
import { DeadLetter } from '../errors.ts';
import type { Count } from '../metrics.ts';
import {
  countDeadLetter,
  type DeadLetterCounts,
  isOver,
  KEY_CAP,
  type LeftOut,
  MOST_OF_A_KEY,
  MOST_OF_A_PARTITION,
  NO_DEAD_LETTERS,
} from './dead-letter-quota.ts';
import type { Batch, Log, LogRecord, OutRecord } from './log.ts';
import { partitionKey, partitionOf } from './partitioner.ts';

/** The largest part of a value that is kept, bytes. */
export const VALUE_CAP = 64 * 1024;

export const deadLetterTopic = (service: string): string => `onex.dlq.${service}.dead-letter.v1`;

/** Whether the error states what is wrong with the record; any other error is a fault of Vigil. */
export const isReasoned = (error: unknown): error is DeadLetter | Undecodable =>
  error instanceof DeadLetter || error instanceof Undecodable;

/** `partitions`: the partition count of the dead-letter topic. */
type DeadLetterEncoding = { readonly codec: Codec; readonly service: string; readonly partitions: number };

/** A record that cannot be used. `otherwise`: the reason for an error that has none, which is a fault of Vigil. */
export type BadRecord = { readonly record: LogRecord; readonly error: unknown; readonly otherwise: string };

/** The dead letter of a record. `valueCap`: the largest part of its value to keep, bytes. */
export const deadLetterOf = (
  encoding: DeadLetterEncoding,
  { record, error, otherwise }: BadRecord,
  valueCap: number,
  now: number,
): OutRecord => {
  const { topic, partition, offset, timestamp, key, value } = record;
  return encodeDeadLetter(encoding, {
    original_topic: topic,
    original_message: {
      key: key?.slice(0, KEY_CAP) ?? null,
      value: value === null ? null : value.subarray(0, valueCap),
      truncated: (value?.length ?? 0) > valueCap,
      offset,
      partition,
    },
    original_timestamp: timestamp,
    failure_reason: isReasoned(error) ? error.reason : otherwise,
    failure_timestamp: now,
    correlation_id: null,
    retry_count: 0,
    error_type: (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(0, 1000),
    left_out: 0,
  });
};

/** The dead letter for all records that a minute left out. */
export const leftOutLetterOf = (encoding: DeadLetterEncoding, leftOut: LeftOut, now: number): OutRecord => {
  const { topic, partition, offset, timestamp, key, count } = leftOut;
  return encodeDeadLetter(encoding, {
    original_topic: topic,
    original_message: { key, value: null, truncated: true, offset, partition },
    original_timestamp: timestamp,
    failure_reason: 'left_out',
    failure_timestamp: now,
    correlation_id: null,
    retry_count: 0,
    error_type: `LeftOut: ${count} records of a minute have no dead letter of their own; this is the first. A key gets ${MOST_OF_A_KEY} a minute, a partition ${MOST_OF_A_PARTITION}`,
    left_out: count,
  });
};

const encodeDeadLetter = (
  { codec, service, partitions }: DeadLetterEncoding,
  payload: DeadLetterPayload,
): OutRecord => {
  const topic = deadLetterTopic(service);
  const { key } = payload.original_message;
  const value = codec.encode({ topic, type: 'DEAD_LETTER', payload } as Parameters<Codec['encode']>[0]);
  return { topic, partition: partitionOf(key ?? '', partitions), key, value };
};

/**
 * Writes and counts dead letters outside transactions: for runners with effects outside the log. The counts of each
 * partition are in memory only. So a new assignment begins with a full quota, and a crash loses the number of the
 * records left out in its minute.
 */
export class DeadLetterWriter {
  readonly #counts = new Map<string, DeadLetterCounts>();
  /** the time of each partition: of the last record of its last batch */
  readonly #times = new Map<string, number>();
  readonly #log: Log;
  readonly #options: { readonly service: string; readonly group: string; readonly count: Count };

  constructor(log: Log, options: { readonly service: string; readonly group: string; readonly count: Count }) {
    this.#log = log;
    this.#options = options;
  }

  async write(bad: BadRecord): Promise<void> {
    const { group, count } = this.#options;
    const encoding = await this.#encoding();
    const at = partitionKey(bad.record.topic, bad.record.partition);
    const now = this.#times.get(at) ?? bad.record.timestamp;
    const { counts, valueCap } = countDeadLetter(this.#counts.get(at) ?? NO_DEAD_LETTERS, bad.record, now, VALUE_CAP);
    this.#counts.set(at, counts);
    count('dead_letters', 1, { processor: group });
    if (valueCap === null) return count('dead_letters_left_out', 1, { processor: group });
    await this.#log.write([deadLetterOf(encoding, bad, valueCap, bad.record.timestamp)]);
  }

  /** Moves the time of a partition to that of its batch, and finishes the minute before. */
  async advance({ topic, partition, records }: Batch): Promise<void> {
    const now = records.at(-1)?.timestamp;
    if (now === undefined) return;
    const at = partitionKey(topic, partition);
    this.#times.set(at, now);
    const counts = this.#counts.get(at);
    if (counts !== undefined && isOver(counts, now)) await this.#finish(at);
  }

  /** Finishes the minute of every partition. */
  async close(): Promise<void> {
    for (const at of [...this.#counts.keys()]) await this.#finish(at);
    this.#times.clear();
  }

  async #finish(at: string): Promise<void> {
    const leftOut = this.#counts.get(at)?.leftOut ?? null;
    this.#counts.delete(at);
    if (leftOut === null) return;
    await this.#log.write([leftOutLetterOf(await this.#encoding(), leftOut, leftOut.timestamp)]);
  }

  async #encoding(): Promise<DeadLetterEncoding> {
    const { service } = this.#options;
    const partitions = await this.#log.partitionCount(deadLetterTopic(service));
    return { codec: this.#log.codec, service, partitions };
  }
}

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
