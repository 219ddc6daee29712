import type { Log } from '../log/log.ts';
import type { Phase } from '../processor/partition-task.ts';
import { within } from './within.ts';

/**
 * After this long without progress only a restart helps, if the broker answers and has committed records to read. No
 * process can read past an unfinished transaction of another writer.
 */
const DEAF_MS = 15_000;
const LOOK_MS = 1000;
const LOOKS = 3;
const NO_RECORDS = { low: 0, high: 0 };

/** A partition that is read. The watchdog compares it by identity: a reopened partition is a new object. */
export type PartitionReading = {
  readonly partition: number;
  /** counts finished work */
  readonly progress: number;
  /** the next offset to read, by topic; a topic that is not listed is read from its first record */
  readonly positions: ReadonlyMap<string, number>;
  readonly phase: Phase;
};

/** `hidden`: an unfinished transaction of another writer hides the next records. */
type Watched = { progress: number; since: number; looks: number; hidden: boolean };

/** Checks the partitions once a second. Calls `stuck` with the figures of a partition without progress. */
export class Watchdog {
  readonly #log: Log;
  readonly #partitions: () => Iterable<PartitionReading>;
  readonly #reads: readonly string[];
  readonly #stuck: (message: string) => void;
  readonly #watched = new WeakMap<PartitionReading, Watched>();
  readonly #timer: NodeJS.Timeout;
  #looking = false;
  #well = true;

  constructor(
    log: Log,
    partitions: () => Iterable<PartitionReading>,
    reads: readonly string[],
    stuck: (message: string) => void,
  ) {
    this.#log = log;
    this.#partitions = partitions;
    this.#reads = reads;
    this.#stuck = stuck;
    this.#timer = setInterval(() => void this.look(performance.now()), LOOK_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** false if a partition with unread records makes no progress, or the broker does not answer */
  get well(): boolean {
    return this.#well;
  }

  /** `now`: the reading of a monotonic clock, milliseconds. */
  async look(now: number): Promise<void> {
    const still = [...this.#partitions()].filter((reading) => this.#standsStill(reading, now));
    if (this.#looking) return;
    this.#looking = true;
    try {
      for (const reading of still) await this.#checkEnds(reading, now);
      this.#well = still.map((reading) => this.#of(reading, now)).every(({ looks, hidden }) => looks === 0 && !hidden);
    } catch {
      this.#well = false;
      for (const reading of still) this.#of(reading, now).looks = 0; // no new process helps while no broker answers
    } finally {
      this.#looking = false;
    }
  }

  #of(reading: PartitionReading, now: number): Watched {
    const known = this.#watched.get(reading) ?? { progress: reading.progress, since: now, looks: 0, hidden: false };
    this.#watched.set(reading, known);
    return known;
  }

  #standsStill(reading: PartitionReading, now: number): boolean {
    const watched = this.#of(reading, now);
    if (watched.progress !== reading.progress)
      this.#watched.set(reading, { progress: reading.progress, since: now, looks: 0, hidden: false });
    return now - this.#of(reading, now).since > DEAF_MS;
  }

  async #checkEnds(reading: PartitionReading, now: number): Promise<void> {
    const watched = this.#of(reading, now);
    const behind: string[] = [];
    let hidden = false;
    for (const topic of this.#reads) {
      const stableEnd = (await within(3000, this.#log.stableEnds(topic), topic))[reading.partition] ?? 0;
      const { low, high } = (await within(3000, this.#log.bounds(topic), topic))[reading.partition] ?? NO_RECORDS;
      const at = Math.max(reading.positions.get(topic) ?? low, low);
      if (stableEnd > at) behind.push(`${topic}/${reading.partition} stands at ${at} of ${stableEnd}`);
      else if (high > at) hidden = true;
    }
    if (reading.phase === 'restoring') behind.push(`the restore of partition ${reading.partition} makes no progress`);
    const isHidden = behind.length === 0 && hidden;
    // Records that have just become readable get the full time.
    if (!isHidden && (behind.length === 0 || watched.hidden)) watched.since = now;
    if (behind.length === 0 || watched.hidden) watched.looks = 0;
    watched.hidden = isHidden;
    if (behind.length === 0 || watched.since === now) return;
    watched.looks += 1;
    const seconds = Math.round((now - watched.since) / 1000);
    if (watched.looks >= LOOKS) this.#stuck(`${behind.join(', ')}, ${reading.phase}, for ${seconds} s`);
  }
}
