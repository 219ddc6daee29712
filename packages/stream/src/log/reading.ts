import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Codec,
  type EventOf,
  type HealthEvent,
  RegistryTrouble,
  type TopicName,
  Undecodable,
  UnknownSchemaId,
} from '@vigil/events';
import { DeadLetter } from '../errors.ts';
import { eventOf } from './inputs.ts';
import type { Following, From, Log, LogRecord } from './log.ts';

/** The delay before the registry is queried again after it did not answer, milliseconds. */
export const REGISTRY_RETRY_MS = 1000;
/**
 * A record that waits for longer counts as unread, milliseconds. The first record of each schema waits for one answer of the
 * registry, and a busy machine takes a second for it.
 */
const LATE_MS = 5000;

/** Runs `job`, and again after each unknown schema is learned. Throws the errors of `learn`. */
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

/** Readers outside the runners ignore marks and tombstones. */
export const isEvent = ({ key, value }: LogRecord): boolean => value !== null && key !== null && !key.startsWith('@');

/**
 * Decodes a record, and learns its schema first if necessary. Throws DeadLetter or Undecodable if the record cannot be
 * read, RegistryTrouble if the registry does not answer.
 */
export const readEvent = (codec: Codec, record: LogRecord): Promise<HealthEvent> =>
  retryLearning(codec, () => eventOf(record, codec));

/** Decodes records. If the registry does not answer, waits until it does or the signal is aborted. */
export class WaitingReader {
  readonly #codec: Codec;
  readonly #signal: AbortSignal;
  /** the unread records, and when each began to wait; the oldest is first */
  readonly #begun = new Map<LogRecord, number>();

  constructor(codec: Codec, signal: AbortSignal) {
    this.#codec = codec;
    this.#signal = signal;
  }

  /** the unread records, which wait for the registry */
  get waiting(): readonly LogRecord[] {
    return [...this.#begun.keys()];
  }

  /** Whether a record has waited for too long. */
  get isLate(): boolean {
    const [oldest] = this.#begun.values();
    return oldest !== undefined && performance.now() - oldest > LATE_MS;
  }

  /** null if the signal was aborted first. Throws DeadLetter or Undecodable if the record cannot be read. */
  async read(record: LogRecord): Promise<HealthEvent | null> {
    this.#begun.set(record, performance.now());
    try {
      while (!this.#signal.aborted) {
        const read = await readEvent(this.#codec, record).catch((error: unknown) => {
          if (error instanceof RegistryTrouble) return null;
          throw error;
        });
        if (read !== null) return read;
        await sleep(REGISTRY_RETRY_MS, undefined, { signal: this.#signal }).catch(() => {});
      }
      return null;
    } finally {
      this.#begun.delete(record);
    }
  }
}

type TailOptions<In extends TopicName> = {
  readonly from: From;
  /** Called once a record, in order. An error that it throws ends the tail. */
  readonly onEvent: (event: EventOf<In>, record: LogRecord) => void;
  readonly signal: AbortSignal;
};

/**
 * Reads new events of all partitions of some topics, without a group of its own. Unreadable records are skipped: the
 * owner of the topic dead-letters them. Resolves when it has begun. `finished` rejects if reading ends other than by
 * the signal.
 */
export const tail = async <In extends TopicName>(
  log: Log,
  topics: readonly In[],
  { from, onEvent, signal }: TailOptions<In>,
): Promise<Following & { readonly finished: Promise<never> }> => {
  const { promise: finished, reject } = Promise.withResolvers<never>();
  finished.catch(() => {});
  const reader = new WaitingReader(log.codec, signal);
  let queue = Promise.resolve();
  const deliver = async (record: LogRecord) => {
    try {
      const event = await reader.read(record);
      if (event !== null && !signal.aborted) onEvent(event as EventOf<In>, record);
    } catch (error) {
      if (!(error instanceof DeadLetter || error instanceof Undecodable)) reject(error);
    }
  };
  const enqueue = (record: LogRecord) => {
    if (isEvent(record)) queue = queue.then(() => deliver(record));
  };
  const { ready } = await log.follow(topics, from, enqueue, signal);
  return { finished, ready: () => ready() && !reader.isLate };
};

type ReadOnOptions<In extends TopicName> = {
  /** Called one event at a time. An error that it throws ends the reading. */
  readonly onEvent: (event: EventOf<In>, record: LogRecord) => void | Promise<void>;
  /** Called when all records that were committed before the start have been received. Later records wait for it. */
  readonly onCaughtUp?: () => void | Promise<void>;
  /** Reports an unreadable record, which is skipped. */
  readonly onUnreadable: (error: Error, record: LogRecord) => void;
  readonly signal: AbortSignal;
};

/**
 * Reads a topic of one partition from its beginning, each event once and in order, and then new events, without a group
 * of its own. Resolves when all records committed before the call have been received. `finished` rejects if reading
 * ends other than by the signal.
 * `ready`: whether new records are being received.
 */
export const readAndFollow = async <In extends TopicName>(
  log: Log,
  topic: In,
  { onEvent, onCaughtUp, onUnreadable, signal }: ReadOnOptions<In>,
): Promise<Following & { readonly finished: Promise<never> }> => {
  const { promise: finished, reject } = Promise.withResolvers<never>();
  finished.catch(() => {});
  const reader = new WaitingReader(log.codec, signal);
  let next = 0;
  let queue: Promise<unknown> = Promise.resolve();
  const deliver = async (record: LogRecord) => {
    if (record.offset < next || signal.aborted) return;
    next = record.offset + 1;
    if (!isEvent(record)) return;
    const event = await reader.read(record).catch((error: unknown) => {
      if (!(error instanceof DeadLetter || error instanceof Undecodable)) throw error;
      onUnreadable(error, record);
    });
    if (event) await onEvent(event as EventOf<In>, record);
  };
  const enqueue = (record: LogRecord) => {
    queue = queue.then(() => deliver(record));
    queue.catch(reject);
  };
  const early: LogRecord[] = [];
  let later = (record: LogRecord): unknown => early.push(record);
  const { ready } = await log.follow([topic], 'end', (record) => later(record), signal);
  const [[bounds], [stableEnd]] = [await log.bounds(topic), await log.stableEnds(topic)];
  // Records after an unfinished transaction are received when it is committed. They do not delay earlier records.
  await log.read(topic, 0, { low: bounds?.low ?? 0, high: stableEnd ?? 0 }, enqueue, signal);
  const caughtUp = queue.then(onCaughtUp);
  queue = caughtUp;
  early.forEach(enqueue);
  later = enqueue;
  await caughtUp;
  return { finished, ready: () => ready() && !reader.isLate };
};
