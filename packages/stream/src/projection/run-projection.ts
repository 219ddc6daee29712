import {
  type EventOf,
  type HealthEvent,
  NewerEvent,
  RegistryTrouble,
  type TopicName,
  Undecodable,
} from '@vigil/events';
import { DeadLetter, Fatal, Refused, Retry } from '../errors.ts';
import { DeadLetterWriter } from '../log/dead-letters.ts';
import type { Batch, Log, LogRecord, Member, Membership } from '../log/log.ts';
import { partitionKey } from '../log/partitioner.ts';
import { isEvent, REGISTRY_RETRY_MS, readEvent } from '../log/reading.ts';
import { GroupReader, type ReaderOptions, type RunningPart, runReader } from '../runner/group-reader.ts';
import type { PartitionReading } from '../runner/watchdog.ts';
import { within } from '../runner/within.ts';
import { attributesOf, spanOf } from '../tracing/spans.ts';

/** An event and its position. */
export type PlacedEvent<In extends TopicName> = EventOf<In> & { readonly offset: number };

/**
 * Events of one partition, in order. `from` must be the sink's position, else the sink throws Retry. Afterwards the
 * position is `next`.
 */
export type ProjectionBatch<In extends TopicName> = {
  readonly topic: In;
  readonly partition: number;
  readonly from: number;
  readonly next: number;
  /** the timestamp of the last record, ticks included: the sink is complete up to it; epoch milliseconds */
  readonly time: number;
  readonly events: readonly PlacedEvent<In>[];
};

export type ProjectionOptions<In extends TopicName> = ReaderOptions & {
  readonly reads: readonly In[];
  /**
   * The sink's positions, by `topic/partition`; a missing one starts at the beginning. Throws Refused if the sink
   * belongs to another cluster, Retry while it is away.
   */
  readonly open: (clusterId: string) => Promise<ReadonlyMap<string, number>>;
  /**
   * Rows and position in one transaction of the sink. If it throws DeadLetter, the events are tried one by one. After
   * Retry the position is read again: the sink is away, or another process has moved it.
   */
  readonly apply: (batch: ProjectionBatch<In>) => Promise<void>;
  /** Called when the sink is complete up to `time`, the timestamp of a record or a tick; epoch milliseconds. */
  readonly onTime: (topic: In, partition: number, time: number) => void;
};

/** Kafka → a store, effectively once: positions are stored with the rows. */
export const runProjection = async <In extends TopicName>(
  log: Log,
  options: ProjectionOptions<In>,
): Promise<RunningPart> => {
  const projection = new Projection(log, options as unknown as ProjectionOptions<TopicName>);
  return runReader(log, projection, () => projection.close());
};

const APPLY_MS = 60_000;
const CLOSE_MS = 5000;
/** Ticks alone are stored only from this many on: fewer are cheaper to read again than to store in a transaction. */
const WORTH_KEEPING = 500;
/**
 * The position is stored at least this often, also without events, so that retention does not overtake the position in
 * a quiet topic. Milliseconds.
 */
const KEEP_MS = 60_000;
/** How long a sink that is away is left alone before it is asked again. */
const SINK_RETRY_MS = 1000;

type Unreadable = { readonly record: LogRecord; readonly error: DeadLetter | Undecodable };

class Projection extends GroupReader<ProjectionOptions<TopicName>> implements Member {
  /** the positions that are read, and those that are stored in the sink */
  #read = new Map<string, number>();
  #kept = new Map<string, number>();
  /**
   * for each partition of a topic: the writes to the sink, one at a time, and the timer that stores a position without
   * events
   */
  readonly #jobs = new Map<string, Promise<unknown>>();
  readonly #keeping = new Map<string, NodeJS.Timeout>();
  /** the partitions that wait for the registry, by `topic/partition`, and when each continues */
  readonly #waiting = new Set<string>();
  readonly #held = new Map<number, NodeJS.Timeout>();
  /** batches that are being projected */
  #projecting = 0;
  readonly #deadLetters: DeadLetterWriter;
  #assignment = 0;
  #open = false;
  /** set while the sink is away */
  #asking: NodeJS.Timeout | undefined;

  constructor(log: Log, options: ProjectionOptions<TopicName>) {
    super(log, options);
    this.#deadLetters = new DeadLetterWriter(log, options);
  }

  get ready(): boolean {
    return this.#open && this.#waiting.size === 0;
  }

  /** Nothing is read while the sink's position is requested. */
  watched(): Iterable<PartitionReading> {
    return this.#open ? this.progress.values() : [];
  }

  /** While a batch is projected, the sink is slow and the client is not stuck; `APPLY_MS` limits the batch. */
  override stuck(message: string): void {
    if (this.#projecting === 0) super.stuck(message);
  }

  readonly onAssigned = (partitions: ReadonlySet<number>, membership: Membership): void => {
    this.assigned = partitions;
    this.#start(membership);
    this.membership = membership;
  };

  readonly take = async (batch: Batch): Promise<boolean> => {
    const key = partitionKey(batch.topic, batch.partition);
    const position = this.#read.get(key);
    if (!this.#open || position === undefined) return false;
    this.ends.set(key, batch.end);
    this.#projecting += 1;
    try {
      if (batch.fetched > position) throw new Fatal(`${key} jumped: at ${position}, got ${batch.fetched}`);
      await within(
        APPLY_MS,
        this.#inTurn(key, () => this.#project(batch, position)),
        `${this.group}: projecting ${key}`,
      );
      this.#waiting.delete(key);
      return true;
    } catch (error) {
      if (error instanceof RegistryTrouble) this.#waitForRegistry(batch, error);
      else this.#lose(error);
      return false;
    } finally {
      this.#projecting -= 1;
      // A batch that waits for the registry counts as read.
      this.countProgress(batch.partition);
    }
  };

  readonly onSkipped = ({ topic, partition, fetched, next }: Omit<Batch, 'records' | 'end'>): void => {
    const key = partitionKey(topic, partition);
    const position = this.#read.get(key);
    if (position === undefined || fetched > position || next <= position) return;
    this.#read.set(key, next);
    this.countProgress(partition);
    this.#keepSoon(topic, partition);
  };

  async close(): Promise<void> {
    this.#open = false;
    this.#assignment += 1;
    this.#clearTimers();
    await within(CLOSE_MS, this.#deadLetters.close(), 'the last dead letters').catch((error: unknown) =>
      this.options.logger.warn({ group: this.group, err: error }, 'a dead letter was not written'),
    );
  }

  /** Stores no more positions and waits for nothing. */
  #clearTimers(): void {
    for (const timer of [...this.#keeping.values(), ...this.#held.values()]) clearTimeout(timer);
    this.#keeping.clear();
    this.#held.clear();
    this.#waiting.clear();
    clearTimeout(this.#asking);
  }

  /** Begins at the sink's position. While the sink is away, nothing is read, and it is asked again each second. */
  #start(membership: Membership, isFirst = true): void {
    const begun = this.#begin(membership);
    const assignment = this.#assignment;
    const failed = (error: unknown): void => {
      if (!(error instanceof Retry)) this.end(error);
      if (!(error instanceof Retry) || assignment !== this.#assignment) return;
      const { logger } = this.options;
      if (isFirst) logger.warn({ group: this.group, why: error.message }, 'the store is away; nothing is projected');
      this.#asking = setTimeout(() => this.#start(membership, false), SINK_RETRY_MS);
    };
    begun.then(() => {
      if (!isFirst && this.#open) this.options.logger.info({ group: this.group }, 'the store answers again');
    }, failed);
  }

  /** Reads the sink's position at every assignment: another process may have moved it. */
  async #begin(membership: Membership): Promise<void> {
    const assignment = ++this.#assignment;
    this.#open = false;
    this.#clearTimers();
    for (const partition of this.assigned) membership.pause(partition);
    await this.#deadLetters.close();
    const positions = await this.options.open(await this.log.clusterId());
    const placed = await this.#place(positions);
    if (assignment !== this.#assignment) return;
    this.#read = placed;
    this.#kept = new Map(placed);
    this.watch((key) => this.#read.get(key));
    this.#open = true;
    for (const partition of this.assigned) this.#readOn(membership, partition);
  }

  #readOn(membership: Membership, partition: number): void {
    for (const topic of this.topics) {
      const position = this.#read.get(partitionKey(topic, partition));
      if (position !== undefined) membership.seek(topic, partition, position);
    }
    membership.resume(partition);
  }

  /** Only this partition waits until the registry answers. Then the same batch is delivered again. */
  #waitForRegistry({ topic, partition }: Batch, error: RegistryTrouble): void {
    if (!this.#open || !this.assigned.has(partition)) return;
    this.#waiting.add(partitionKey(topic, partition));
    if (this.#held.has(partition)) return;
    this.options.logger.warn({ group: this.group, partition, err: error }, 'the partition waits for the registry');
    this.membership?.pause(partition);
    const goOn = () => {
      this.#held.delete(partition);
      if (this.membership !== undefined) this.#readOn(this.membership, partition);
    };
    this.#held.set(partition, setTimeout(goOn, REGISTRY_RETRY_MS));
  }

  async #place(positions: ReadonlyMap<string, number>): Promise<Map<string, number>> {
    const placed = new Map<string, number>();
    for (const topic of this.topics)
      for (const [partition, { low, high }] of (await this.log.bounds(topic)).entries()) {
        if (!this.assigned.has(partition)) continue;
        const key = partitionKey(topic, partition);
        const at = positions.get(key) ?? low;
        if (at < low || at > high)
          throw new Refused(
            `${this.group}: the position ${at} of ${key} is outside [${low}, ${high}]: ${at < low ? 'records were deleted before they were projected' : 'the store belongs to another log'}. Empty it, and it is filled again from what the topics still have`,
          );
        placed.set(key, at);
      }
    return placed;
  }

  #inTurn<T>(key: string, job: () => Promise<T>): Promise<T> {
    const done = (this.#jobs.get(key) ?? Promise.resolve()).then(job);
    this.#jobs.set(
      key,
      done.catch(() => {}),
    );
    return done;
  }

  #keepSoon(topic: string, partition: number): void {
    const key = partitionKey(topic, partition);
    if (this.#keeping.has(key)) return;
    const assignment = this.#assignment;
    const keep = async () => {
      if (this.#open && assignment === this.#assignment) await this.#keep(topic, partition);
    };
    const timer = setTimeout(() => {
      this.#keeping.delete(key);
      this.#inTurn(key, keep).catch((error: unknown) => this.#lose(error));
    }, KEEP_MS);
    this.#keeping.set(key, timer);
  }

  /** Stores the position in the sink when there is no event to project. */
  async #keep(topic: string, partition: number): Promise<void> {
    const key = partitionKey(topic, partition);
    const [from, next] = [this.#kept.get(key) as number, this.#read.get(key) as number];
    if (next <= from) return;
    await this.options.apply({ topic: topic as TopicName, partition, from, next, time: 0, events: [] });
    this.#kept.set(key, next);
  }

  async #project(batch: Batch, position: number): Promise<void> {
    const { topic, partition, next } = batch;
    const key = partitionKey(topic, partition);
    if (next <= position) return;
    const records = batch.records.filter(({ offset }) => offset >= position);
    await this.#deadLetters.advance(batch);
    const { read, unreadable } = await this.#readAll(records);
    for (const one of unreadable) await this.#passOver(one);
    const from = this.#kept.get(key) as number;
    if (read.length > 0 || next - from >= WORTH_KEEPING) {
      const about = { name: `${this.group} project`, attributes: attributesOf(batch), begun: performance.now() };
      const time = batch.records.at(-1)?.timestamp ?? 0;
      await applyAll(
        this.#deadLetters,
        this.options,
        { topic: topic as TopicName, partition, from, next, time, events: [] },
        read,
      );
      this.#kept.set(key, next);
      spanOf(about, records);
    }
    this.#read.set(key, next);
    const last = batch.records.at(-1);
    if (last !== undefined) this.options.onTime(topic as TopicName, partition, last.timestamp);
    this.options.count('records_read', records.length, { processor: this.group });
    if (this.#kept.get(key) !== next) this.#keepSoon(topic, partition);
  }

  /** Throws RegistryTrouble before anything is written, so that the whole batch is read again. */
  async #readAll(records: readonly LogRecord[]): Promise<{ read: readonly Read[]; unreadable: readonly Unreadable[] }> {
    const read: Read[] = [];
    const unreadable: Unreadable[] = [];
    for (const record of records.filter(isEvent)) {
      try {
        read.push({ record, event: await readEvent(this.log.codec, record) });
      } catch (error) {
        if (!(error instanceof DeadLetter || error instanceof Undecodable)) throw error;
        unreadable.push({ record, error });
      }
    }
    return { read, unreadable };
  }

  async #passOver({ record, error }: Unreadable): Promise<void> {
    if (error instanceof NewerEvent) this.options.count('newer_events', 1, { processor: this.group });
    else await this.#deadLetters.write({ record, error, otherwise: 'unreadable' });
  }

  #lose(error: unknown): void {
    this.options.logger.warn({ group: this.group, err: error }, 'a batch was not projected');
    if (error instanceof Retry && this.membership !== undefined) {
      this.#start(this.membership);
      return;
    }
    this.end(error);
  }
}

const placed = ({ record: { offset }, event }: Read): PlacedEvent<TopicName> => ({ ...event, offset });

export type Read = { readonly record: LogRecord; readonly event: HealthEvent };

type Sink = Pick<ProjectionOptions<TopicName>, 'apply'>;

/**
 * Projects all events at once. If the sink refuses one, projects them one by one, and the refused one becomes a dead
 * letter.
 */
export const applyAll = async (
  deadLetters: DeadLetterWriter,
  sink: Sink,
  batch: ProjectionBatch<TopicName>,
  read: readonly Read[],
): Promise<void> => {
  try {
    await sink.apply({ ...batch, events: read.map(placed) });
  } catch (error) {
    if (!(error instanceof DeadLetter)) throw error;
    await applyOneByOne(deadLetters, sink, batch, read);
  }
};

const applyOneByOne = async (
  deadLetters: DeadLetterWriter,
  sink: Sink,
  batch: ProjectionBatch<TopicName>,
  read: readonly Read[],
): Promise<void> => {
  let from = batch.from;
  for (const [place, one] of read.entries()) {
    const { record } = one;
    const next = place === read.length - 1 ? batch.next : record.offset + 1;
    const part = { ...batch, from, next };
    try {
      await sink.apply({ ...part, events: [placed(one)] });
    } catch (error) {
      if (!(error instanceof DeadLetter)) throw error;
      await deadLetters.write({ record, error, otherwise: 'unprojected' });
      await sink.apply({ ...part, events: [] });
    }
    from = next;
  }
};
