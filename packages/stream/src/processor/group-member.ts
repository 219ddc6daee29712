import { RegistryTrouble } from '@vigil/events';
import { Fatal, Retry } from '../errors.ts';
import type { Batch, Log, Member, Membership } from '../log/log.ts';
import { REGISTRY_RETRY_MS } from '../log/reading.ts';
import type { Logger } from '../logger.ts';
import { Watchdog } from '../runner/watchdog.ts';
import { startTicks } from '../time/ticks.ts';
import type { TaskDependencies } from './dependencies.ts';
import { PartitionTask } from './partition-task.ts';
// biome-ignore lint/suspicious/noImportCycles: of types only
import type { PartitionStatus, ProcessorOptions } from './run-processor.ts';
import type { AnyProcessor } from './topology.ts';
import { VERSION } from './version.ts';

const PUBLISH_MS = 5000;
/**
 * A fenced task is opened again only after this many heartbeats: the last was certainly sent after the fence. A zombie
 * must never fence the owner.
 */
const HEARTBEATS_AFTER_FENCE = 2;

/** A member of a processor's group: opens a task for each partition that is its own, and gives them their batches. */
export class GroupMember implements Member {
  readonly group: string;
  readonly topics: readonly string[];
  readonly paceMs: number;
  readonly finished: Promise<never>;
  readonly #tasks = new Map<number, PartitionTask>();
  readonly #heartbeats = new WeakMap<PartitionTask, number>();
  readonly #log: Log;
  readonly #processor: AnyProcessor;
  readonly #deps: Omit<TaskDependencies, 'partition'>;
  readonly #logger: Logger;
  readonly #end: (error: Error) => void;
  readonly #stops: (() => unknown)[] = [];
  /** what waits for the registry, and until when */
  readonly #waiting = new Map<PartitionTask, NodeJS.Timeout>();
  #membership: Membership | undefined;
  #watchdog: Watchdog | undefined;
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
    const { partitions: sources, count, onCommitted } = options;
    this.#deps = { codec: log.codec, partitions, sources, count, onCommitted, version: VERSION };
  }

  async start(): Promise<void> {
    const { writesTicks, reads } = this.#processor;
    await this.#log.join(this);
    const publishing = setInterval(() => void this.#publish(), PUBLISH_MS);
    const watchdog = new Watchdog(
      this.#log,
      () => this.#tasks.values(),
      reads,
      (what) => this.#fail(new Fatal(`${this.group}: no progress: ${what}`)),
    );
    this.#watchdog = watchdog;
    this.#stops.push(
      () => clearInterval(publishing),
      () => watchdog.stop(),
    );
    if (writesTicks !== undefined) this.#stops.push(startTicks(this.#log, writesTicks, this.held, this.#logger).stop);
  }

  async stop(): Promise<void> {
    if (this.#stopping) return;
    this.#stopping = true;
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    for (const stop of this.#stops) await stop();
    await this.#membership?.stop();
    await Promise.all([...this.#tasks.values()].map((task) => task.close()));
  }

  get ready(): boolean {
    const open = [...this.#tasks.values()].every(({ phase, waits }) => phase === 'running' && !waits);
    return open && this.#membership !== undefined && (this.#watchdog?.well ?? false);
  }

  get status(): readonly PartitionStatus[] {
    return [...this.#tasks.values()].map(({ partition, phase, lag, clock, watched }) => ({
      partition,
      phase,
      lag,
      time: clock.now,
      watched,
    }));
  }

  readonly held = (): readonly number[] => [...this.#tasks.keys()];

  readonly onAssigned = (partitions: ReadonlySet<number>, membership: Membership): void => {
    this.#membership = membership;
    for (const [partition, task] of this.#tasks) {
      if (partitions.has(partition)) continue;
      task.lose();
      this.#tasks.delete(partition);
    }
    for (const partition of partitions) {
      const task = this.#tasks.get(partition);
      if (task === undefined || task.phase === 'lost') this.#open(partition, membership);
      else if (task.phase === 'running') this.#seek(task, membership);
      else membership.pause(partition);
    }
    this.#logger.info({ processor: this.group, partitions: [...partitions] }, 'assigned');
  };

  readonly onHeartbeat = (): void => {
    for (const task of this.#tasks.values()) {
      if (task.phase !== 'lost' || this.#membership === undefined) continue;
      const heartbeats = (this.#heartbeats.get(task) ?? 0) + 1;
      this.#heartbeats.set(task, heartbeats);
      if (heartbeats >= HEARTBEATS_AFTER_FENCE) this.#open(task.partition, this.#membership);
    }
  };

  readonly take = async (batch: Batch): Promise<boolean> => {
    const task = this.#tasks.get(batch.partition);
    if (task?.phase !== 'running') return false;
    try {
      await task.take(batch);
      return true;
    } catch (error) {
      if (error instanceof RegistryTrouble) this.#waitForRegistry(task, error);
      else this.#lose(task, error);
      return false;
    }
  };

  readonly onSkipped = (fetch: Omit<Batch, 'records' | 'end'>): void => this.#tasks.get(fetch.partition)?.skip(fetch);

  readonly onLost = (error: Error): void => this.#fail(error);

  /** No caller waits for this: the partition is paused until it is open, the others continue. */
  #open(partition: number, membership: Membership): void {
    const task = new PartitionTask(this.#log, this.#processor, { ...this.#deps, partition });
    this.#tasks.set(partition, task);
    membership.pause(partition);
    // However long a restore takes: one that gets on ends, and the watchdog sees one that does not.
    void task
      .open()
      .then(() => {
        if (this.#tasks.get(partition) !== task) return task.lose();
        this.#seek(task, membership);
        membership.resume(partition);
        this.#deps.count('partitions_opened', 1, this.group);
        this.#logger.info({ processor: this.group, partition, states: task.size }, 'running');
      })
      .catch((error: unknown) => this.#lose(task, error));
  }

  #seek(task: PartitionTask, membership: Membership): void {
    for (const [topic, position] of task.positions) membership.seek(topic, task.partition, position);
  }

  /** Only this partition waits until the registry answers. It is offered the same record again. */
  #waitForRegistry(task: PartitionTask, error: RegistryTrouble): void {
    if (this.#stopping || task.phase !== 'running' || this.#waiting.has(task)) return;
    this.#logger.warn({ processor: this.group, partition: task.partition, err: error }, 'waits for the registry');
    this.#membership?.pause(task.partition);
    this.#waiting.set(
      task,
      setTimeout(() => this.#resume(task), REGISTRY_RETRY_MS),
    );
  }

  #resume(task: PartitionTask): void {
    this.#waiting.delete(task);
    if (task.phase !== 'running' || this.#membership === undefined) return;
    this.#seek(task, this.#membership);
    this.#membership.resume(task.partition);
  }

  /**
   * A fence is another member's right, and the task is opened again later; any other error is a reason to start again.
   */
  #lose(task: PartitionTask, error: unknown): void {
    if (task.phase === 'lost') return;
    this.#membership?.pause(task.partition);
    task.lose();
    this.#deps.count('partitions_lost', 1, this.group);
    this.#logger.warn({ processor: this.group, partition: task.partition, err: error }, 'lost');
    if (!(error instanceof Retry)) this.#fail(error as Error);
  }

  #fail(error: Error): void {
    if (!this.#stopping) this.#end(error);
  }

  async #publish(): Promise<void> {
    const running = [...this.#tasks.values()].filter(({ phase }) => phase === 'running');
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
