import { setTimeout as sleep } from 'node:timers/promises';
import { type Draft, type EventOf, NewerEvent, RegistryTrouble, type TopicName } from '@vigil/events';
import { Retry } from './errors.ts';
import { Lanes, Outstanding } from './in-flight.ts';
import { writeLetter } from './letters.ts';
import type { Batch, Log, LogRecord, Member, Membership } from './log.ts';
import { type Logger, silent } from './logger.ts';
import type { Count } from './metrics.ts';
import { isTrouble, writeOutcomes } from './outcomes.ts';
import { ASK_AGAIN_MS, isEvent, readEvent } from './reading.ts';
import type { RunningPart } from './run-projection.ts';
import { within } from './within.ts';

export type ReactorOptions<In extends TopicName, Out extends TopicName> = {
  readonly group: string;
  /** names the dead-letter topic */
  readonly service: string;
  readonly reads: readonly In[];
  /**
   * An effect on the world, with the event's id as idempotency key; gives what became of it. It may be asked again. Retry: asked again,
   * with back-off or after its own time, and only its key waits; DeadLetter, or any other error: the event is a dead letter.
   */
  readonly react: (event: EventOf<In>) => Promise<readonly Draft<Out>[]>;
  readonly maxInFlight: number;
  readonly count: Count;
  readonly logger?: Logger;
};

/** Kafka → the world, at least once: one at a time a key, so many at once, outcomes recorded, offsets published behind what is done. */
export const runReactor = async <In extends TopicName, Out extends TopicName>(
  log: Log,
  options: ReactorOptions<In, Out>,
): Promise<RunningPart> => {
  const reactor = new Reactor(log, options as unknown as ReactorOptions<TopicName, TopicName>);
  const membership = await log.join(reactor);
  const publishing = setInterval(() => void reactor.publish(), PUBLISH_MS);
  const stop = async () => {
    clearInterval(publishing);
    await reactor.drain();
    await membership.stop();
  };
  return { ready: () => reactor.ready, finished: reactor.finished, stop, [Symbol.asyncDispose]: stop };
};

const PACE_MS = 50;
const PUBLISH_MS = 1000;
const DRAIN_MS = 5000;
const BACK_OFF_MS = [1000, 2000, 5000, 15_000, 30_000] as const;
const backOff = (tries: number): number => BACK_OFF_MS[Math.min(tries, BACK_OFF_MS.length - 1)] as number;

const keyOf = (topic: string, partition: number) => `${topic}/${partition}`;

class Reactor implements Member {
  readonly group: string;
  readonly topics: readonly string[];
  readonly paceMs = PACE_MS;
  readonly finished: Promise<never>;
  readonly #end: (error: unknown) => void;
  readonly #log: Log;
  readonly #options: ReactorOptions<TopicName, TopicName>;
  readonly #logger: Logger;
  readonly #lanes: Lanes;
  readonly #stopping = new AbortController();
  #outstanding = new Map<string, Outstanding>();
  #assigned: ReadonlySet<number> = new Set();
  #paused = new Set<number>();
  #membership: Membership | undefined;

  constructor(log: Log, options: ReactorOptions<TopicName, TopicName>) {
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => {});
    this.finished = promise;
    this.#end = reject;
    this.#log = log;
    this.#options = options;
    this.#logger = options.logger ?? silent;
    this.#lanes = new Lanes(options.maxInFlight);
    this.group = options.group;
    this.topics = options.reads;
  }

  get ready(): boolean {
    return this.#membership !== undefined;
  }

  readonly held = (): readonly number[] => [...this.#assigned];

  /** What it keeps goes on where it was read; what is new begins at the group's offsets. */
  readonly assigned = (partitions: ReadonlySet<number>, membership: Membership): void => {
    const kept = [...this.#outstanding].filter(([key]) => partitions.has(Number(key.slice(key.lastIndexOf('/') + 1))));
    this.#outstanding = new Map(kept);
    this.#assigned = partitions;
    this.#membership = membership;
    for (const partition of [...this.#paused]) this.#flow(partition);
    for (const [key, { read }] of kept) {
      const at = key.lastIndexOf('/');
      membership.seek(key.slice(0, at), Number(key.slice(at + 1)), read);
    }
  };

  readonly beat = (): void => {};

  readonly take = async (batch: Batch): Promise<boolean> => {
    if (this.#stopping.signal.aborted) return false;
    const key = keyOf(batch.topic, batch.partition);
    const outstanding = this.#outstanding.get(key) ?? new Outstanding(batch.fetched);
    this.#outstanding.set(key, outstanding);
    for (const record of batch.records) if (record.offset >= outstanding.read) this.#begin(record, outstanding);
    outstanding.readTo(batch.next);
    this.#flow(batch.partition);
    return true;
  };

  readonly skipped = ({ topic, partition, next }: Omit<Batch, 'records' | 'end'>): void =>
    this.#outstanding.get(keyOf(topic, partition))?.readTo(next);

  readonly lost = (error: Error): void => this.#end(error);

  async publish(): Promise<void> {
    const offsets = [...this.#outstanding].map(([key, { done }]) => {
      const at = key.lastIndexOf('/');
      return { topic: key.slice(0, at), partition: Number(key.slice(at + 1)), offset: done };
    });
    if (offsets.length === 0) return;
    await this.#membership?.publish(offsets).catch((error: unknown) => {
      this.#logger.warn(
        { group: this.group, err: error },
        'the offsets were not written; what was done may be done again',
      );
    });
  }

  /** Begins nothing more, waits a little for what runs, and publishes what is done. */
  async drain(): Promise<void> {
    this.#stopping.abort();
    await within(DRAIN_MS, this.#lanes.idle(), 'draining').catch(() => {});
    await this.publish();
  }

  #begin(record: LogRecord, outstanding: Outstanding): void {
    if (!isEvent(record)) return;
    outstanding.begin(record.offset);
    const given = () =>
      this.#stopping.signal.aborted || this.#outstanding.get(keyOf(record.topic, record.partition)) !== outstanding;
    const job = this.#lanes.run(record.key as string, async (pause) => {
      for (let tries = 0; !given(); tries++) {
        const retry = await this.#try(record);
        if (retry === null) return outstanding.finish(record.offset);
        await pause(() => this.#wait(retry.afterMs ?? backOff(tries)));
      }
    });
    void job.then(() => this.#flow(record.partition)).catch((error: unknown) => this.#end(error));
  }

  /** null: done; else again later. */
  async #try(record: LogRecord): Promise<Retry | null> {
    try {
      const event = await readEvent(this.#log.codec, record);
      await writeOutcomes(this.#log, this.group, record, event, await this.#options.react(event));
    } catch (error) {
      if (error instanceof Retry) {
        this.#logger.warn({ group: this.group, err: error }, 'a reaction waits');
        return error;
      }
      if (error instanceof RegistryTrouble) {
        this.#logger.warn({ group: this.group, err: error }, 'a reaction waits for the registry');
        return new Retry(error.message, { afterMs: ASK_AGAIN_MS, cause: error });
      }
      if (isTrouble(error)) throw error;
      if (error instanceof NewerEvent) this.#options.count('newer_events', 1, this.group);
      else await writeLetter(this.#log, this.#options.service, record, error, 'reaction');
    }
    return null;
  }

  /** Reads on only while not too much of a partition waits. */
  #flow(partition: number): void {
    const waiting = this.topics.map((topic) => this.#outstanding.get(keyOf(topic, partition))?.size ?? 0);
    const full = Math.max(...waiting) >= this.#options.maxInFlight;
    if (full === this.#paused.has(partition) || !this.#assigned.has(partition)) return;
    if (full) this.#paused.add(partition);
    else this.#paused.delete(partition);
    if (full) this.#membership?.pause(partition);
    else this.#membership?.resume(partition);
  }

  async #wait(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stopping.signal }).catch(() => {}); // stopping ends the wait
  }
}
