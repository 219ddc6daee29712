import { RegistryTrouble } from '@vigil/events';
import { Fatal, Retry } from '../errors.ts';
import type { Batch, Log, Member, Membership } from '../log/log.ts';
import { ASK_AGAIN_MS } from '../log/reading.ts';
import type { Logger } from '../logger.ts';
import { Watchdog } from '../runner/watchdog.ts';
import { startTicks } from '../time/ticks.ts';
import type { SlotSurroundings } from './dependencies.ts';
import { Slot } from './partition-task.ts';
import type { AnyProcessor } from './processor.ts';
import type { PartitionStatus, ProcessorOptions } from './run-processor.ts';
import { VERSION } from './version.ts';

const PUBLISH_MS = 5000;
/** A slot that was fenced is opened again only after this many heartbeats, the last of which was certainly sent after the fence: a zombie must never fence the owner. */
const BEATS = 2;

/** A member of a processor's group: opens a slot for each partition that is its own, and gives them their batches. */
export class Owner implements Member {
  readonly group: string;
  readonly topics: readonly string[];
  readonly paceMs: number;
  readonly finished: Promise<never>;
  readonly #slots = new Map<number, Slot>();
  readonly #beats = new WeakMap<Slot, number>();
  readonly #log: Log;
  readonly #processor: AnyProcessor;
  readonly #around: Omit<SlotSurroundings, 'partition'>;
  readonly #logger: Logger;
  readonly #end: (error: Error) => void;
  readonly #stops: (() => unknown)[] = [];
  /** what waits for the registry, and until when */
  readonly #held = new Map<Slot, NodeJS.Timeout>();
  #membership: Membership | undefined;
  #dog: Watchdog | undefined;
  #stopping = false;

  constructor(log: Log, processor: AnyProcessor, options: ProcessorOptions, counts: ReadonlyMap<string, number>) {
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => {});
    this.finished = promise;
    this.#end = reject;
    this.#log = log;
    this.#processor = processor;
    this.#logger = options.logger;
    this.group = processor.processor;
    this.topics = processor.reads;
    this.paceMs = options.paceMs ?? 50;
    const partitions = (topic: string) => counts.get(topic) as number;
    const { partitions: sources, count, committed } = options;
    this.#around = { codec: log.codec, partitions, sources, count, committed, version: VERSION };
  }

  async start(): Promise<void> {
    const { writesTicks, reads } = this.#processor;
    await this.#log.join(this);
    const publishing = setInterval(() => void this.#publish(), PUBLISH_MS);
    const dog = new Watchdog(
      this.#log,
      () => this.#slots.values(),
      reads,
      (what) => this.#fail(new Fatal(`${this.group}: no progress: ${what}`)),
    );
    this.#dog = dog;
    this.#stops.push(
      () => clearInterval(publishing),
      () => dog.stop(),
    );
    if (writesTicks !== undefined) this.#stops.push(startTicks(this.#log, writesTicks, this.held, this.#logger).stop);
  }

  async stop(): Promise<void> {
    if (this.#stopping) return;
    this.#stopping = true;
    for (const timer of this.#held.values()) clearTimeout(timer);
    for (const stop of this.#stops) await stop();
    await this.#membership?.stop();
    await Promise.all([...this.#slots.values()].map((slot) => slot.close()));
  }

  get ready(): boolean {
    const open = [...this.#slots.values()].every(({ phase, waits }) => phase === 'running' && !waits);
    return open && this.#membership !== undefined && (this.#dog?.well ?? false);
  }

  get status(): readonly PartitionStatus[] {
    return [...this.#slots.values()].map(({ partition, phase, lag, clock, watched }) => ({
      partition,
      phase,
      lag,
      time: clock.now,
      watched,
    }));
  }

  readonly held = (): readonly number[] => [...this.#slots.keys()];

  readonly assigned = (partitions: ReadonlySet<number>, membership: Membership): void => {
    this.#membership = membership;
    for (const [partition, slot] of this.#slots) {
      if (partitions.has(partition)) continue;
      slot.lose();
      this.#slots.delete(partition);
    }
    for (const partition of partitions) {
      const slot = this.#slots.get(partition);
      if (slot === undefined || slot.phase === 'lost') this.#open(partition, membership);
      else if (slot.phase === 'running') this.#seek(slot, membership);
      else membership.pause(partition);
    }
    this.#logger.info({ processor: this.group, partitions: [...partitions] }, 'assigned');
  };

  readonly beat = (): void => {
    for (const slot of this.#slots.values()) {
      if (slot.phase !== 'lost' || this.#membership === undefined) continue;
      const beats = (this.#beats.get(slot) ?? 0) + 1;
      this.#beats.set(slot, beats);
      if (beats >= BEATS) this.#open(slot.partition, this.#membership);
    }
  };

  readonly take = async (batch: Batch): Promise<boolean> => {
    const slot = this.#slots.get(batch.partition);
    if (slot?.phase !== 'running') return false;
    try {
      await slot.take(batch);
      return true;
    } catch (error) {
      if (error instanceof RegistryTrouble) this.#hold(slot, error);
      else this.#lose(slot, error);
      return false;
    }
  };

  readonly skipped = (fetch: Omit<Batch, 'records' | 'end'>): void => this.#slots.get(fetch.partition)?.skip(fetch);

  readonly lost = (error: Error): void => this.#fail(error);

  /** Nobody waits for this: the partition is paused until it is open, the others flow on. */
  #open(partition: number, membership: Membership): void {
    const slot = new Slot(this.#log, this.#processor, { ...this.#around, partition });
    this.#slots.set(partition, slot);
    membership.pause(partition);
    // However long a restore takes: one that gets on ends, and the watchdog sees one that does not.
    void slot
      .open()
      .then(() => {
        if (this.#slots.get(partition) !== slot) return slot.lose();
        this.#seek(slot, membership);
        membership.resume(partition);
        this.#around.count('slots_opened', 1, this.group);
        this.#logger.info({ processor: this.group, partition, states: slot.size }, 'running');
      })
      .catch((error: unknown) => this.#lose(slot, error));
  }

  #seek(slot: Slot, membership: Membership): void {
    for (const [topic, position] of slot.positions) membership.seek(topic, slot.partition, position);
  }

  /** Only this partition waits until the registry answers. It is offered the same record again. */
  #hold(slot: Slot, error: RegistryTrouble): void {
    if (this.#stopping || slot.phase !== 'running' || this.#held.has(slot)) return;
    this.#logger.warn({ processor: this.group, partition: slot.partition, err: error }, 'waits for the registry');
    this.#membership?.pause(slot.partition);
    this.#held.set(
      slot,
      setTimeout(() => this.#goOn(slot), ASK_AGAIN_MS),
    );
  }

  #goOn(slot: Slot): void {
    this.#held.delete(slot);
    if (slot.phase !== 'running' || this.#membership === undefined) return;
    this.#seek(slot, this.#membership);
    this.#membership.resume(slot.partition);
  }

  /** A fence is somebody else's right, and opened again later; anything else is a reason to start anew. */
  #lose(slot: Slot, error: unknown): void {
    if (slot.phase === 'lost') return;
    this.#membership?.pause(slot.partition);
    slot.lose();
    this.#around.count('slots_lost', 1, this.group);
    this.#logger.warn({ processor: this.group, partition: slot.partition, err: error }, 'lost');
    if (!(error instanceof Retry)) this.#fail(error as Error);
  }

  #fail(error: Error): void {
    if (!this.#stopping) this.#end(error);
  }

  async #publish(): Promise<void> {
    const running = [...this.#slots.values()].filter(({ phase }) => phase === 'running');
    const offsets = running.flatMap(({ partition, positions }) =>
      [...positions].map(([topic, offset]) => ({ topic, partition, offset })),
    );
    if (offsets.length === 0) return;
    await this.#membership?.publish(offsets).catch((error: unknown) => {
      this.#logger.warn(
        { processor: this.group, err: error },
        'the group offsets, for lag tools only, were not written',
      );
    });
  }
}
