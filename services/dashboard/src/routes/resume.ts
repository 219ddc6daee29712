import { type HealthEvent, type TopicName, Undecodable } from '@vigil/events';
import { DeadLetter, isEvent, type Log, type LogRecord, readEvent } from '@vigil/stream';
import { Problem } from '../problem.ts';

/** What a backlog is read from. */
export type Backlog = Pick<Log, 'codec' | 'bounds' | 'stableEnds' | 'read'>;

/** Offsets of one partition that are read at once. */
const CHUNK = 2000;

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

/**
 * Reads what was committed after these positions, partition after partition, and moves them. Resolves to the number of
 * records. Unreadable ones are skipped: the owner of the topic dead-letters them.
 */
export const readBacklog = async (
  log: Backlog,
  topics: readonly TopicName[],
  positions: Positions,
  onEvent: (event: HealthEvent) => Promise<void>,
  signal: AbortSignal,
): Promise<number> => {
  let count = 0;
  for (const topic of topics) {
    const [bounds, ends] = await Promise.all([log.bounds(topic), log.stableEnds(topic)]);
    for (const [partition, end] of ends.entries()) {
      const first = Math.max(positions.next(topic, partition), bounds[partition]?.low ?? 0);
      for (let low = first; low < end && !signal.aborted; low += CHUNK) {
        const records: LogRecord[] = [];
        const range = { low, high: Math.min(low + CHUNK, end) };
        await log.read(topic, partition, range, (record) => records.push(record), signal);
        for (const record of records) {
          const event = await eventIn(log, record);
          if (positions.take(record) && event !== null) await onEvent(event);
        }
        count += records.length;
        positions.take({ topic, partition, offset: range.high - 1 });
      }
    }
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
