import { type HealthEvent, type TopicName, Undecodable } from '@vigil/events';
import { DeadLetter, isEvent, type Log, type LogRecord, type PartitionRange, readEvent } from '@vigil/stream';
import { Problem } from '../problem.ts';

/** What a backlog is read from. */
export type Backlog = Pick<Log, 'codec' | 'bounds' | 'stableEnds' | 'readRanges'>;

/** Offsets of all partitions that are read at once. */
export const MOST_AT_ONCE = 10_000;

/** Up to where a reader has the events of some topics: the next offset of each partition. */
export class Positions {
  readonly #topics: readonly TopicName[];
  readonly #next: number[][];

  private constructor(topics: readonly TopicName[], next: readonly (readonly number[])[]) {
    this.#topics = topics;
    this.#next = next.map((offsets) => [...offsets]);
  }

  /** Throws Problem 400 if the text is not that of a position of these topics. */
  static parse(text: string, topics: readonly TopicName[]): Positions {
    const next = text.split('-').map((offsets) => offsets.split('.').map((digits) => Number.parseInt(digits, 36)));
    if (!/^[0-9a-z.-]+$/.test(text) || next.length !== topics.length || !next.flat().every(Number.isSafeInteger))
      throw new Problem(
        400,
        'bad_position',
        'Last-Event-ID is not an id of this stream: leave it out to begin now, or repeat the query of the stream that had it.',
      );
    return new Positions(topics, next);
  }

  /** After everything that is committed now. */
  static async now(log: Backlog, topics: readonly TopicName[]): Promise<Positions> {
    return new Positions(topics, await Promise.all(topics.map((topic) => log.stableEnds(topic))));
  }

  get text(): string {
    return this.#next.map((offsets) => offsets.map((offset) => offset.toString(36)).join('.')).join('-');
  }

  next(topic: string, partition: number): number {
    return this.#offsets(topic)[partition] ?? 0;
  }

  /** False: the reader has the record already. */
  take({ topic, partition, offset }: Pick<LogRecord, 'topic' | 'partition' | 'offset'>): boolean {
    const offsets = this.#offsets(topic);
    if (offset < (offsets[partition] ?? 0)) return false;
    while (offsets.length < partition) offsets.push(0);
    offsets[partition] = offset + 1;
    return true;
  }

  #offsets(topic: string): number[] {
    return this.#next[this.#topics.indexOf(topic as TopicName)] ?? [];
  }
}

/** What is missing after these positions, in every partition of the topics. */
const missingRanges = async (
  log: Backlog,
  topics: readonly TopicName[],
  positions: Positions,
): Promise<readonly PartitionRange[]> => {
  const ofTopic = async (topic: TopicName): Promise<readonly PartitionRange[]> => {
    const ends = (await log.stableEnds(topic)).map((high, partition) => ({
      ...{ topic, partition, high },
      low: positions.next(topic, partition),
    }));
    const behind = ends.filter(({ low, high }) => low < high);
    if (behind.length === 0) return [];
    // Older records may be deleted.
    const bounds = await log.bounds(topic);
    return behind.map((range) => ({ ...range, low: Math.max(range.low, bounds[range.partition]?.low ?? 0) }));
  };
  return (await Promise.all(topics.map(ofTopic))).flat().filter(({ low, high }) => low < high);
};

/** As many ranges as one read may hold in memory, the first of a long one. */
const nextRead = (missing: readonly PartitionRange[]): readonly PartitionRange[] => {
  let left = MOST_AT_ONCE;
  return missing.flatMap((range) => {
    const high = Math.min(range.high, range.low + left);
    left -= high - range.low;
    return high > range.low ? [{ ...range, high }] : [];
  });
};

/**
 * Reads what was committed after these positions, several partitions at once, and moves them. Events are delivered one at
 * a time, in the order of each partition. Resolves to the number of records. Unreadable ones are skipped: the owner of the
 * topic dead-letters them.
 */
export const readBacklog = async (
  log: Backlog,
  topics: readonly TopicName[],
  positions: Positions,
  onEvent: (event: HealthEvent) => Promise<void>,
  signal: AbortSignal,
): Promise<number> => {
  let count = 0;
  let missing = await missingRanges(log, topics, positions);
  while (missing.length > 0) {
    const ranges = nextRead(missing);
    const records: LogRecord[] = [];
    await log.readRanges(ranges, (record) => records.push(record), signal);
    for (const record of records) {
      const event = await eventIn(log, record);
      if (signal.aborted) return count;
      if (positions.take(record) && event !== null) await onEvent(event);
    }
    if (signal.aborted) return count;
    count += records.length;
    for (const { topic, partition, high } of ranges) positions.take({ topic, partition, offset: high - 1 });
    missing = missing.flatMap((range) => {
      const low = positions.next(range.topic, range.partition);
      return low < range.high ? [{ ...range, low }] : [];
    });
  }
  return count;
};

const eventIn = async (log: Backlog, record: LogRecord): Promise<HealthEvent | null> => {
  if (!isEvent(record)) return null;
  try {
    return await readEvent(log.codec, record);
  } catch (error) {
    if (error instanceof DeadLetter || error instanceof Undecodable) return null;
    throw error;
  }
};
