import { setTimeout as sleep } from 'node:timers/promises';
import { type Draft, type EventOf, type HealthEvent, NewerEvent, RegistryTrouble, type TopicName } from '@vigil/events';
import { Fatal, Retry } from '../errors.ts';
import { DeadLetterWriter } from '../log/dead-letters.ts';
import type { Batch, Log, LogRecord, Member, Membership } from '../log/log.ts';
import { eventId, partitionKey } from '../log/partitioner.ts';
import { isEvent, REGISTRY_RETRY_MS, readEvent } from '../log/reading.ts';
import { recordOf } from '../log/writer.ts';
import { GroupReader, type ReaderOptions, type RunningPart, runReader } from '../runner/group-reader.ts';
import type { PartitionReading } from '../runner/watchdog.ts';
import { within } from '../runner/within.ts';
import { type About, attributesOf, spanOf } from '../tracing/spans.ts';
import { Lanes, Outstanding } from './in-flight.ts';

export type ReactorOptions<In extends TopicName, Out extends TopicName> = ReaderOptions & {
  readonly reads: readonly In[];
  /**
   * An external effect, with the event's id as idempotency key. Returns its outcome, and may be called again. If it
   * throws Retry, it is called again, with back-off or after its own delay, and only its key waits. On DeadLetter, or
   * any other error, the event becomes a dead letter.
   */
  readonly react: (event: EventOf<In>) => Promise<readonly Draft<Out>[]>;
  readonly maxInFlight: number;
  /** the time of the outcomes, epoch milliseconds */
  readonly now: () => number;
};

/**
 * Kafka → external effects, at least once. Each key has one reaction at a time, and `maxInFlight` reactions run at
 * once. Outcomes are recorded before offsets are published.
 */
export const runReactor = async <In extends TopicName, Out extends TopicName>(
  log: Log,
  options: ReactorOptions<In, Out>,
): Promise<RunningPart> => {
  const reactor = new Reactor(log, options as unknown as ReactorOptions<TopicName, TopicName>);
  const publishing = setInterval(() => {
    void reactor.publish();
    void reactor.place();
  }, PUBLISH_MS);
  return runReader(log, reactor, () => {
    clearInterval(publishing);
    return reactor.drain();
  });
};

const PUBLISH_MS = 1000;
const DRAIN_MS = 5000;
/** So many events of a partition may wait for each reaction that may run: a key that waits for hours holds up no other. */
const WAITING_EACH = 256;
/** So often at most a line of log shows that reactions of a group wait. */
const NOTE_EVERY_MS = 30_000;
const BACK_OFF_MS = [1000, 2000, 5000, 15_000, 30_000] as const;
const backOff = (tries: number): number => BACK_OFF_MS[Math.min(tries, BACK_OFF_MS.length - 1)] as number;

class Reactor extends GroupReader<ReactorOptions<TopicName, TopicName>> implements Member {
  readonly #lanes: Lanes;
  readonly #deadLetters: DeadLetterWriter;
  readonly #stopping = new AbortController();
  #outstanding = new Map<string, Outstanding>();
  #paused = new Set<number>();
  /** when a line last showed each kind of wait, and how many waits have had none since */
  readonly #waits = new Map<string, { at: number; unnoted: number }>();
  #isPlaced = false;
  #isPlacing = false;
  /** the group's offsets, by `topic/partition`, as of the last assignment */
  #starts = new Map<string, number>();

  constructor(log: Log, options: ReactorOptions<TopicName, TopicName>) {
    super(log, options);
    this.#lanes = new Lanes(options.maxInFlight);
    this.#deadLetters = new DeadLetterWriter(log, options);
  }

  get ready(): boolean {
    const waits = [...this.#outstanding.values()].some(({ unread }) => unread.size > 0);
    return this.membership !== undefined && this.#isPlaced && !waits;
  }

  /** A partition whose sink has too many waiting events is not read, and is not stuck. */
  watched(): Iterable<PartitionReading> {
    return [...this.progress.values()].filter(({ partition }) => !this.#paused.has(partition));
  }

  /** Reads the group's offsets, so that the watchdog detects a partition that is never read. */
  async place(): Promise<void> {
    if (this.#isPlaced || this.#isPlacing) return;
    const assigned = this.assigned;
    this.#isPlacing = true;
    try {
      const starts = await this.#startsOf(assigned);
      if (assigned !== this.assigned) return;
      this.#starts = starts;
      this.#isPlaced = true;
      this.watch((key) => this.#outstanding.get(key)?.read ?? this.#starts.get(key));
    } catch (error) {
      this.options.logger.warn(
        { group: this.group, err: error },
        'the offsets of the group cannot be read; the reactor retries',
      );
    } finally {
      this.#isPlacing = false;
    }
  }

  async #startsOf(partitions: ReadonlySet<number>): Promise<Map<string, number>> {
    const starts = new Map<string, number>();
    for (const topic of this.topics)
      for (const [partition, offset] of (await this.log.groupOffsets(this.group, topic)).entries())
        if (offset !== null && partitions.has(partition)) starts.set(partitionKey(topic, partition), offset);
    return starts;
  }

  /** Kept partitions continue at the read position; new ones begin at the group's offsets. */
  readonly onAssigned = (partitions: ReadonlySet<number>, membership: Membership): void => {
    const kept = [...this.#outstanding].filter(([key]) => partitions.has(Number(key.slice(key.lastIndexOf('/') + 1))));
    this.#outstanding = new Map(kept);
    this.assigned = partitions;
    this.membership = membership;
    void this.#deadLetters.close().catch((error: unknown) => this.end(error));
    this.#isPlaced = false;
    this.progress = new Map();
    void this.place();
    for (const partition of [...this.#paused]) this.#flow(partition);
    for (const [key, { read }] of kept) {
      const at = key.lastIndexOf('/');
      membership.seek(key.slice(0, at), Number(key.slice(at + 1)), read);
    }
  };

  readonly take = async (batch: Batch): Promise<boolean> => {
    if (this.#stopping.signal.aborted) return false;
    this.ends.set(partitionKey(batch.topic, batch.partition), batch.end);
    void this.#deadLetters.advance(batch).catch((error: unknown) => this.end(error));
    const outstanding = this.#outstandingOf(batch.topic, batch.partition, batch.fetched);
    const records = batch.records.filter(({ offset }) => offset >= outstanding.read);
    for (const record of records) this.#begin(record, outstanding);
    outstanding.readTo(batch.next);
    this.options.count('records_read', records.length, { processor: this.group });
    this.countProgress(batch.partition);
    this.#flow(batch.partition);
    return true;
  };

  readonly onSkipped = ({ topic, partition, fetched, next }: Omit<Batch, 'records' | 'end'>): void => {
    this.#outstandingOf(topic, partition, fetched).readTo(next);
    this.countProgress(partition);
  };

  #outstandingOf(topic: string, partition: number, fetched: number): Outstanding {
    const key = partitionKey(topic, partition);
    const outstanding = this.#outstanding.get(key) ?? new Outstanding(fetched);
    this.#outstanding.set(key, outstanding);
    return outstanding;
  }

  async publish(): Promise<void> {
    const offsets = [...this.#outstanding].map(([key, { done }]) => {
      const at = key.lastIndexOf('/');
      return { topic: key.slice(0, at), partition: Number(key.slice(at + 1)), offset: done };
    });
    if (offsets.length === 0) return;
    await this.membership?.publish(offsets).catch((error: unknown) => {
      this.options.logger.warn(
        { group: this.group, err: error },
        'the offsets were not written; reactions may be repeated',
      );
    });
  }

  /** Starts no more reactions, waits briefly for running ones, and publishes those that are done. */
  async drain(): Promise<void> {
    this.#stopping.abort();
    await within(DRAIN_MS, this.#lanes.idle(), 'draining').catch(() => {});
    await within(DRAIN_MS, this.#deadLetters.close(), 'the last dead letters').catch((error: unknown) =>
      this.options.logger.warn({ group: this.group, err: error }, 'a dead letter was not written'),
    );
    await this.publish();
  }

  #begin(record: LogRecord, outstanding: Outstanding): void {
    if (!isEvent(record)) return;
    outstanding.begin(record.offset);
    const given = () =>
      this.#stopping.signal.aborted ||
      this.#outstanding.get(partitionKey(record.topic, record.partition)) !== outstanding;
    const job = this.#lanes.run(record.key as string, async (pause) => {
      for (let tries = 0; !given(); tries++) {
        const retry = await this.#try(record, outstanding);
        if (retry === null) return outstanding.finish(record.offset);
        await pause(() => this.#wait(retry.afterMs ?? backOff(tries)));
      }
    });
    void job.then(() => this.#flow(record.partition)).catch((error: unknown) => this.end(error));
  }

  /** One line in a while for all reactions that wait: each of them is tried again, often each second. */
  #noteWait(what: string, { message: why }: Error): void {
    const noted = this.#waits.get(what);
    const now = performance.now();
    if (noted !== undefined && now - noted.at < NOTE_EVERY_MS) {
      noted.unnoted += 1;
      return;
    }
    this.options.logger.warn({ group: this.group, why, waitsSinceLastLine: noted?.unnoted ?? 0 }, what);
    this.#waits.set(what, { at: now, unnoted: 0 });
  }

  /** null if done; else the event is retried later. */
  async #try(record: LogRecord, { unread }: Outstanding): Promise<Retry | null> {
    const about = { name: `${this.group} react`, attributes: attributesOf(record), begun: performance.now() };
    try {
      const event = await readEvent(this.log.codec, record);
      unread.delete(record.offset);
      const outcomes = await this.#react(event, record, about);
      await writeOutcomes(this.log, this.group, record, event, outcomes, this.options.now());
      this.options.count('events_written', outcomes.drafts.length, { processor: this.group });
    } catch (error) {
      if (error instanceof Retry) {
        this.#noteWait('a reaction waits', error);
        return error;
      }
      if (error instanceof RegistryTrouble) {
        unread.add(record.offset);
        this.#noteWait('a reaction waits for the registry', error);
        return new Retry(error.message, { afterMs: REGISTRY_RETRY_MS, cause: error });
      }
      if (error instanceof Unwritten) {
        // A later event of the same key must not be done before this one, which is read again.
        this.#stopping.abort();
        throw error;
      }
      if (error instanceof NewerEvent) this.options.count('newer_events', 1, { processor: this.group });
      else await this.#deadLetters.write({ record, error, otherwise: 'reaction' });
    }
    return null;
  }

  /** A reaction without an outcome has no span: an event for another sink, for example. */
  async #react(event: HealthEvent, record: LogRecord, about: About): Promise<Outcomes> {
    try {
      const drafts = await this.options.react(event);
      return { drafts, traceparent: drafts.length === 0 ? undefined : spanOf(about, [record]) };
    } catch (error) {
      spanOf(about, [record], { error });
      throw error;
    }
  }

  /** Pauses reading while too many events of a partition wait. */
  #flow(partition: number): void {
    const waiting = this.topics.map((topic) => this.#outstanding.get(partitionKey(topic, partition))?.size ?? 0);
    const full = Math.max(...waiting) >= this.options.maxInFlight * WAITING_EACH;
    if (full === this.#paused.has(partition) || !this.assigned.has(partition)) return;
    if (full) this.#paused.add(partition);
    else this.#paused.delete(partition);
    this.countProgress(partition);
    if (full) this.membership?.pause(partition);
    else this.membership?.resume(partition);
  }

  async #wait(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stopping.signal }).catch(() => {}); // stopping ends the wait
  }
}

/**
 * An outcome could not be written. A fault of the broker makes no dead letter: the process ends, and the event is read
 * again.
 */
class Unwritten extends Fatal {}

type Outcomes = { readonly drafts: readonly Draft[]; readonly traceparent: string | undefined };

/**
 * Records the outcome of a reaction. The ids are the same each time, so that an effect that is tried twice is recorded
 * as one.
 */
const writeOutcomes = async (
  log: Log,
  group: string,
  { topic, partition, offset }: LogRecord,
  input: HealthEvent,
  { drafts, traceparent }: Outcomes,
  occurredAt: number,
): Promise<void> => {
  if (drafts.length === 0) return;
  const encoded = drafts.map((draft, ordinal) =>
    recordOf(log, draft, {
      eventId: eventId(group, topic, partition, offset, draft.key, ordinal),
      occurredAt,
      correlationId: input.correlationId,
      causationId: input.eventId,
    }),
  );
  const headers = traceparent === undefined ? {} : { headers: { traceparent } };
  const records = (await Promise.all(encoded)).map((one) => ({ ...one, ...headers }));
  await log.write(records).catch((error: Error) => {
    throw new Unwritten(`${group}: an outcome was not written: ${error.message}`, { cause: error });
  });
};
