import type { Kafka, Producer } from 'kafkajs';
import type { OutRecord } from '../log.ts';
import { within } from '../within.ts';
import { createPartitioner, ZSTD } from './client.ts';
import { chunked, toClient } from './records.ts';

const SEND_MS = 20_000;

type Waiting = {
  readonly records: readonly OutRecord[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Writes in the order of the calls, one send at a time: sends side by side may swap. What comes meanwhile goes with the next. A send that
 * the client repeats is written once; after one that failed a new producer begins, for the old one's numbering may have a hole.
 */
export class Queue {
  readonly #kafka: Kafka;
  #producer: Producer;
  #waiting: Waiting[] = [];
  #sending: Promise<void> | undefined;

  constructor(kafka: Kafka) {
    this.#kafka = kafka;
    this.#producer = this.#fresh();
  }

  async open(): Promise<void> {
    await this.#producer.connect();
  }

  write(records: readonly OutRecord[]): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ records, resolve, reject });
    this.#sending ??= this.#drain();
    return promise;
  }

  async close(): Promise<void> {
    await this.#sending;
    await this.#producer.disconnect();
  }

  async #drain(): Promise<void> {
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const now = this.#waiting;
      this.#waiting = [];
      try {
        for (const chunk of chunked(now.flatMap(({ records }) => records))) await this.#send(chunk);
        for (const { resolve } of now) resolve();
      } catch (error) {
        void this.#producer.disconnect().catch(() => {});
        this.#producer = this.#fresh();
        for (const { reject } of now) reject(error);
      }
    }
    this.#sending = undefined;
  }

  async #send(records: readonly OutRecord[]): Promise<void> {
    const topicMessages = toClient(records);
    const send = async () => {
      await this.#producer.connect();
      await this.#producer.sendBatch({ acks: -1, compression: ZSTD, topicMessages });
    };
    await within(SEND_MS, send(), 'a write');
  }

  #fresh(): Producer {
    return this.#kafka.producer({ idempotent: true, maxInFlightRequests: 1, createPartitioner });
  }
}
