import type { Kafka } from 'kafkajs';
import type { LogRecord, Position } from '../log/log.ts';
import { within } from '../runner/within.ts';
import { Reader } from './reader.ts';

const LOOK_MS = 5000;
const ANSWER_MS = 4000;
/**
 * After this many checks without progress the follower connects again. Each time that does not help doubles the number,
 * because a broker may be slow.
 */
const LOOKS = 3;
const MOST_LOOKS = 12;

type Stands = { readonly at: number; readonly end: number };

/**
 * Reads until it is stopped. It detects by itself that the client delivers nothing, because the client's promises may
 * hang for ever.
 */
export class Follower {
  readonly #reader: Reader;
  readonly #stableEnds: (topic: string) => Promise<readonly number[]>;
  readonly #topics: readonly string[];
  readonly #timer: NodeJS.Timeout;
  #before = new Map<string, Stands>();
  #looking = false;
  #looks = 0;
  #patience = LOOKS;
  #answered = true;

  constructor(
    kafka: Pick<Kafka, 'fetcher'>,
    from: readonly Position[],
    onRecord: (record: LogRecord) => void,
    stableEnds: (topic: string) => Promise<readonly number[]>,
  ) {
    this.#reader = new Reader(kafka, from, onRecord);
    this.#stableEnds = stableEnds;
    this.#topics = [...new Set(from.map(({ topic }) => topic))];
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
  }

  get done(): Promise<void> {
    return this.#reader.done;
  }

  /** false if a record that existed at the last check is not read yet, or if no broker answers. */
  get ready(): boolean {
    return this.#answered && this.#looks === 0;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#reader.stop();
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      this.#judge(await within(ANSWER_MS, this.#now(), 'the end offsets of the followed topics'));
      this.#answered = true;
    } catch {
      this.#answered = false;
      this.#looks = 0; // no new connection helps while no broker answers
      this.#before = new Map();
    } finally {
      this.#looking = false;
    }
  }

  #judge(now: ReadonlyMap<string, Stands>): void {
    const stands = [...now].some(([place, { at }]) => {
      const before = this.#before.get(place);
      return before !== undefined && before.at < before.end && before.at === at;
    });
    this.#before = new Map(now);
    this.#looks = stands ? this.#looks + 1 : 0;
    if (!stands) this.#patience = LOOKS;
    if (this.#looks < this.#patience) return;
    this.#looks = 1;
    this.#patience = Math.min(2 * this.#patience, MOST_LOOKS);
    this.#reader.renew();
  }

  /** Asks for all topics at once: one after another, many topics on a distant broker would take longer than the limit. */
  async #now(): Promise<ReadonlyMap<string, Stands>> {
    const ends = await Promise.all(this.#topics.map(async (topic) => ({ topic, ends: await this.#stableEnds(topic) })));
    const stands = new Map<string, Stands>();
    for (const { topic, ends: ofTopic } of ends)
      for (const [partition, end] of ofTopic.entries()) {
        const at = this.#reader.positionOf(topic, partition);
        if (at !== undefined) stands.set(`${topic}/${partition}`, { at, end });
      }
    return stands;
  }
}
