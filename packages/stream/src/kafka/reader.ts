import { randomUUID } from 'node:crypto';
import type { Consumer, ConsumerGroupJoinEvent, EachBatchPayload, Kafka } from 'kafkajs';
import type { LogRecord, Position } from '../log/log.ts';
import { partitionKey } from '../log/partitioner.ts';
import { fromClient } from './records.ts';

const LOOK_MS = 500;
/**
 * A consumer with unread records and no progress for this long is replaced. Each consumer gets twice the time of the
 * previous one.
 */
const STILL_MS = 5000;
const LONGEST_STILL_MS = 60_000;

type Reading = { readonly topic: string; readonly partition: number; next: number; readonly until: number };

/**
 * Reads committed records from given positions. The client can only read as a member of a group. A member that rejoins
 * after a broker restart waits for the whole session of its old member. So each reader has a group of its own, and
 * starts a new one on any doubt.
 */
export class Reader {
  readonly #kafka: Kafka;
  readonly #name: string;
  readonly #onRecord: (record: LogRecord) => void;
  readonly #readings: ReadonlyMap<string, Reading>;
  readonly #done = Promise.withResolvers<void>();
  readonly #timer: NodeJS.Timeout;
  #consumer: Consumer | undefined;
  #moved = performance.now();
  #patienceMs = STILL_MS;
  #crashed = false;

  /** `until`: the offset to stop at; without it the reader does not stop. */
  constructor(
    kafka: Kafka,
    name: string,
    from: readonly (Position & { readonly until?: number })[],
    onRecord: (record: LogRecord) => void,
  ) {
    this.#kafka = kafka;
    this.#name = name;
    this.#onRecord = onRecord;
    const readings = from.map(({ topic, partition, offset, until = Number.POSITIVE_INFINITY }) => ({
      topic,
      partition,
      next: offset,
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
    const bounded = [...this.#readings.values()].some(({ until }) => Number.isFinite(until));
    const still = bounded && performance.now() - this.#moved > this.#patienceMs;
    // A broker may delay a new group for seconds. A consumer that is replaced too early never reads.
    if (still) this.#patienceMs = Math.min(2 * this.#patienceMs, LONGEST_STILL_MS);
    if (this.#crashed || still) this.renew();
  }

  #leave(): void {
    void this.#consumer?.disconnect().catch(() => {});
    this.#consumer = undefined;
  }

  /** Continues at the present position with a new consumer and a new group. */
  renew(): void {
    this.#leave();
    this.#moved = performance.now();
    this.#crashed = false;
    const consumer = this.#kafka.consumer({
      groupId: `${this.#name}-${randomUUID()}`,
      maxWaitTimeInMs: 50,
      maxBytesPerPartition: 4 << 20,
      sessionTimeout: 10_000,
      // A crash is answered with a new consumer. The client's own restart would read beside it, from the beginning.
      retry: { restartOnFailure: async () => false },
    });
    this.#consumer = consumer;
    const mine = () => this.#consumer === consumer;
    consumer.on(consumer.events.CRASH, () => {
      if (mine()) this.#crashed = true;
    });
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      if (!mine()) return; // it is disconnected: a seek would crash it
      this.#moved = performance.now();
      this.#place(consumer, payload.memberAssignment);
    });
    consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload: { topic, partition, lastOffset } }) => {
      if (mine()) this.#advance(consumer, topic, partition, Number(lastOffset) + 1); // also where a fetch held control records only
    });
    const eachBatch = async (payload: EachBatchPayload) => {
      if (mine()) this.#deliver(payload);
    };
    void this.#run(consumer, eachBatch, mine).catch(() => {
      if (mine()) this.#crashed = true;
    });
  }

  /** A consumer that was replaced meanwhile is disconnected again: it would connect by itself, and read from the beginning. */
  async #run(
    consumer: Consumer,
    eachBatch: (payload: EachBatchPayload) => Promise<void>,
    mine: () => boolean,
  ): Promise<void> {
    const topics = [...new Set([...this.#readings.values()].map(({ topic }) => topic))];
    const steps = [
      () => consumer.connect(),
      () => consumer.subscribe({ topics, fromBeginning: true }),
      () => consumer.run({ autoCommit: false, eachBatch }),
    ];
    for (const step of steps) {
      await step();
      if (!mine()) return consumer.disconnect();
    }
  }

  #place(consumer: Consumer, assignment: ConsumerGroupJoinEvent['payload']['memberAssignment']): void {
    for (const [topic, partitions] of Object.entries(assignment))
      for (const partition of partitions) {
        const reading = this.#readings.get(partitionKey(topic, partition));
        if (reading === undefined || reading.next >= reading.until)
          consumer.pause([{ topic, partitions: [partition] }]);
        else consumer.seek({ topic, partition, offset: String(reading.next) });
      }
  }

  #deliver({ batch: { topic, partition, messages } }: EachBatchPayload): void {
    const reading = this.#readings.get(partitionKey(topic, partition));
    if (reading === undefined) return;
    for (const message of messages) {
      const offset = Number(message.offset);
      if (offset < reading.next || offset >= reading.until) continue;
      reading.next = offset + 1;
      try {
        this.#onRecord(fromClient(topic, partition, message));
      } catch (error) {
        this.#fail(error);
        return;
      }
    }
  }

  #advance(consumer: Consumer, topic: string, partition: number, next: number): void {
    const reading = this.#readings.get(partitionKey(topic, partition));
    if (reading === undefined) return;
    this.#moved = performance.now();
    this.#patienceMs = STILL_MS;
    reading.next = Math.max(reading.next, next);
    if (reading.next < reading.until) return;
    consumer.pause([{ topic, partitions: [partition] }]);
    if ([...this.#readings.values()].every(({ next: at, until }) => at >= until)) this.stop();
  }
}
