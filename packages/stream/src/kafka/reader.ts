import type { Fetcher, Kafka, KafkaJSOffsetOutOfRange, KafkaMessage } from 'kafkajs';
import type { LogRecord, Position } from '../log/log.ts';
import { partitionKey } from '../log/partitioner.ts';
import { typeOf } from './client.ts';
import { fromClient } from './records.ts';

const LOOK_MS = 500;
/** How long the broker waits for the first record, milliseconds. */
const WAIT_MS = 500;
/** A fetcher without an answer for this long is replaced. Each one gets twice the time of the previous one. */
const STILL_MS = 5000;
const LONGEST_STILL_MS = 60_000;
/** Before a request that failed is repeated, milliseconds; twice as long each time. */
const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 1000;
/** What one answer may have, bytes: decoding it stops everything else in the process. */
const OF_PARTITION = 1 << 20;
const OF_ANSWER = 4 << 20;
/** A short range asks for less: the broker would add what follows it. */
const LEAST_BYTES = 16 << 10;
const BYTES_OF_OFFSET = 1 << 10;

/** `at`: the offset to fetch; it is before `next` where the broker does not have `next` (yet). */
type Reading = { readonly topic: string; readonly partition: number; next: number; at: number; readonly until: number };

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const isUnread = ({ next, until }: Reading): boolean => next < until;

const positionOf = ({ topic, partition, at, until }: Reading) => {
  const wanted = Math.max(LEAST_BYTES, (until - at) * BYTES_OF_OFFSET);
  return { topic, partition, offset: String(at), maxBytes: Math.min(OF_PARTITION, wanted) };
};

/**
 * Reads committed records from given positions. It is not a member of a group: a group takes seconds to join, and again
 * after a restart of the broker. It repeats what fails until it is stopped.
 */
export class Reader {
  readonly #kafka: Pick<Kafka, 'fetcher'>;
  readonly #onRecord: (record: LogRecord) => void;
  readonly #readings: ReadonlyMap<string, Reading>;
  readonly #done = Promise.withResolvers<void>();
  readonly #timer: NodeJS.Timeout;
  #fetcher: Fetcher | undefined;
  #answered = performance.now();
  #patienceMs = STILL_MS;
  /** since the last answer */
  #failures = 0;

  /** `until`: the offset to stop at; without it the reader does not stop. */
  constructor(
    kafka: Pick<Kafka, 'fetcher'>,
    from: readonly (Position & { readonly until?: number })[],
    onRecord: (record: LogRecord) => void,
  ) {
    this.#kafka = kafka;
    this.#onRecord = onRecord;
    const readings = from.map(({ topic, partition, offset, until = Number.POSITIVE_INFINITY }) => ({
      topic,
      partition,
      next: offset,
      at: offset,
      until,
    }));
    this.#readings = new Map(readings.map((reading) => [partitionKey(reading.topic, reading.partition), reading]));
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
    this.renew();
  }

  /** The offset of the next record; undefined if this reader does not read the partition. */
  positionOf(topic: string, partition: number): number | undefined {
    return this.#readings.get(partitionKey(topic, partition))?.next;
  }

  /** Resolves when every partition is read to its end, or on stop. Rejects with the error of `onRecord`. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#leave();
    this.#done.resolve();
  }

  /** An error of the caller is rethrown: reading the record again would not change it. */
  #fail(error: unknown): void {
    this.#done.reject(error);
    this.stop();
  }

  #look(): void {
    if (performance.now() - this.#answered <= this.#patienceMs) return;
    // An answer may take seconds. A fetcher that is replaced too early never reads.
    this.#patienceMs = Math.min(2 * this.#patienceMs, LONGEST_STILL_MS);
    this.renew();
  }

  #leave(): void {
    void this.#fetcher?.disconnect().catch(() => {});
    this.#fetcher = undefined;
  }

  /** Continues at the present position with new connections. */
  renew(): void {
    this.#leave();
    this.#answered = performance.now();
    const fetcher = this.#kafka.fetcher({ maxWaitTimeInMs: WAIT_MS, maxBytes: OF_ANSWER });
    this.#fetcher = fetcher;
    void this.#run(fetcher);
  }

  /** One request at a time to each broker, so that one that does not answer holds up no other. */
  async #run(fetcher: Fetcher): Promise<void> {
    const isMine = () => this.#fetcher === fetcher;
    const asked = new Map<string, Promise<unknown>>();
    const attempt = async <T>(request: () => Promise<T>): Promise<T | null> => {
      try {
        const answer = await request();
        return isMine() ? answer : null;
      } catch (error) {
        if (!isMine()) return null;
        if (await this.#isMoved(fetcher, error)) return null;
        await sleep(Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#failures++));
        await fetcher.refreshMetadata().catch(() => {});
        return null;
      }
    };
    let isConnected = false;
    while (isMine()) {
      isConnected ||= (await attempt(async () => fetcher.connect().then(() => true))) ?? false;
      if (!isConnected) continue;
      const unread = [...this.#readings.values()].filter(isUnread);
      if (unread.length === 0) return this.stop();
      const leaders = await attempt(() => fetcher.leaders(unread));
      for (const [node, readings] of leaders ?? []) {
        if (asked.has(node)) continue;
        const answer = attempt(() => this.#fetch(fetcher, node, readings));
        asked.set(
          node,
          answer.finally(() => asked.delete(node)),
        );
      }
      await (asked.size > 0 ? Promise.race(asked.values()) : sleep(FIRST_RETRY_MS));
    }
  }

  async #fetch(fetcher: Fetcher, node: string, readings: readonly Reading[]): Promise<void> {
    const answers = await fetcher.fetch(node, readings.map(positionOf));
    if (this.#fetcher !== fetcher) return;
    this.#answered = performance.now();
    this.#patienceMs = STILL_MS;
    this.#failures = 0;
    for (const { topic, partition, messages, nextOffset } of answers) {
      const reading = this.#readings.get(partitionKey(topic, partition));
      if (reading === undefined) continue;
      try {
        this.#deliver(reading, messages);
      } catch (error) {
        return this.#fail(error);
      }
      reading.at = Number(nextOffset);
      reading.next = Math.max(reading.next, reading.at);
    }
  }

  #deliver(reading: Reading, messages: readonly KafkaMessage[]): void {
    for (const message of messages) {
      const offset = Number(message.offset);
      if (offset < reading.next || offset >= reading.until) continue;
      reading.next = offset + 1;
      this.#onRecord(fromClient(reading.topic, reading.partition, message));
    }
  }

  /** Whether the broker did not have the offset, and the reading continues at its first one. */
  async #isMoved(fetcher: Fetcher, error: unknown): Promise<boolean> {
    if (typeOf(error) !== 'OFFSET_OUT_OF_RANGE') return false;
    const { topic, partition } = error as KafkaJSOffsetOutOfRange;
    const reading = this.#readings.get(partitionKey(topic, partition));
    const first = await fetcher.earliestOffset(topic, partition).catch(() => null);
    if (reading === undefined || first === null) return false;
    reading.at = Number(first);
    reading.next = Math.max(reading.next, reading.at);
    return true;
  }
}
