import { randomUUID } from 'node:crypto';
import { catalogue, type Draft, RegistryTrouble, type TopicName } from '@vigil/events';
import manifest from '../../../../package.json' with { type: 'json' };
import { Fatal, Refused, Retry } from '../errors.ts';
import { deadLetterTopic } from '../log/dead-letters.ts';
import type { Batch, Log, Member, Membership } from '../log/log.ts';
import { REGISTRY_RETRY_MS } from '../log/reading.ts';
import type { Logger } from '../logger.ts';
import type { Count } from '../metrics.ts';
import type { ProcessorPartition } from '../runner/partition-status.ts';
import { Watchdog } from '../runner/watchdog.ts';
import { startTicks } from '../time/ticks.ts';
import { PartitionTask, type TaskDeps } from './partition-task.ts';
import { SharedWriter } from './shared-writer.ts';
import { type AnyProcessor, anyProcessor, type Processor, snapshotTopic } from './topology.ts';

/** `partitions`: of the agent and task key spaces. `paceMs`: the interval of commits; default 50, 20 where latency counts. */
export type ProcessorOptions = {
  readonly partitions: number;
  readonly paceMs?: number;
  readonly logger: Logger;
  readonly count: Count;
  /** Receives the events of a partition's decider once they are committed: an aborted transaction emitted nothing. */
  readonly onCommitted?: (drafts: readonly Draft[]) => void;
};

/** `finished` never resolves; it rejects with Refused or Fatal, which end the process (`exitCode`). */
export type RunningProcessor = AsyncDisposable & {
  /** whether partitions are assigned, all of them are open, and none is stuck with unread records */
  readonly ready: () => boolean;
  readonly status: () => readonly ProcessorPartition[];
  readonly finished: Promise<never>;
  readonly stop: () => Promise<void>;
};

/**
 * Kafka → Kafka, exactly once: outputs, state and input positions in one transaction. Throws Refused if topics do not
 * fit.
 */
export const runProcessor = async <State, In extends TopicName, Out extends TopicName>(
  log: Log,
  processor: Processor<State, In, Out>,
  options: ProcessorOptions,
): Promise<RunningProcessor> => {
  const any = anyProcessor(processor);
  const counts = await countPartitions(log, any, options.partitions);
  const member = new GroupMember(log, any, options, counts);
  await member.start();
  return member;
};

/** Inputs and snapshot are assigned together, so they must have the same number of partitions. */
const countPartitions = async (
  log: Log,
  processor: AnyProcessor,
  partitions: number,
): Promise<ReadonlyMap<string, number>> => {
  const together = [...processor.reads, snapshotTopic(processor.processor)];
  const topics = new Set([
    ...together,
    ...processor.writes,
    ...processor.ticks.map(({ topic }) => topic),
    deadLetterTopic(processor.service),
  ]);
  const counts = new Map<string, number>();
  for (const topic of topics) counts.set(topic, await log.partitionCount(topic));
  if (new Set(together.map((topic) => counts.get(topic))).size > 1)
    throw new Refused(
      `${processor.processor} reads topics of different partition counts: ${together.map((topic) => `${topic} has ${counts.get(topic)}`).join(', ')}. Topics of one key space have the same: create them again with \`vigil topics apply\``,
    );
  const other = [...counts].find(([topic, count]) => isKeySpace(topic) && count !== partitions);
  if (other !== undefined)
    throw new Refused(
      `${other[0]} has ${other[1]} partitions and VIGIL_PARTITIONS is ${partitions}: set it to ${other[1]}. Time would wait for ticks of partitions that are not there`,
    );
  return counts;
};

/** Whether the topic has as many partitions as the agent and task key spaces. */
const isKeySpace = (topic: string): boolean =>
  (catalogue as Readonly<Record<string, { partitions: string }>>)[topic]?.partitions === 'many';

/** How long a position may stay unwritten while a partition has no output and no change, milliseconds. */
const PUBLISH_MS = 5000;
/**
 * A fenced task is reopened only after this many group heartbeats, because the last of them was certainly sent after
 * the fence. A zombie must never fence the owner.
 */
const HEARTBEATS_AFTER_FENCE = 2;

/** A member of a processor's group. It opens a task for each assigned partition, and passes it the batches. */
class GroupMember implements Member, RunningProcessor {
  readonly group: string;
  readonly topics: readonly string[];
  readonly paceMs: number;
  readonly finished: Promise<never>;
  readonly #tasks = new Map<number, PartitionTask>();
  readonly #heartbeats = new WeakMap<PartitionTask, number>();
  /** the end of the last lost task of each partition: the next one opens after it */
  readonly #closing = new Map<number, Promise<void>>();
  /** the ids of failed writers */
  readonly #former = new Set<string>();
  readonly #log: Log;
  readonly #processor: AnyProcessor;
  readonly #deps: Omit<TaskDeps, 'partition'>;
  readonly #logger: Logger;
  readonly #end: (error: Error) => void;
  readonly #stops: (() => unknown)[] = [];
  /** the tasks that wait for the registry, with their timers */
  readonly #waiting = new Map<PartitionTask, NodeJS.Timeout>();
  #writer: SharedWriter;
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
    this.#writer = this.#newWriter();
    this.#deps = { codec: log.codec, partitions, sources, count, onCommitted, version: manifest.version };
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

  readonly stop = async (): Promise<void> => {
    if (this.#stopping) return;
    this.#stopping = true;
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    for (const stop of this.#stops) await stop();
    await this.#membership?.stop();
    await Promise.all([...this.#tasks.values()].map((task) => task.close()));
    await Promise.all(this.#closing.values());
    await this.#writer.close();
  };

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  readonly ready = (): boolean => {
    const open = [...this.#tasks.values()].every(({ phase, waits }) => phase === 'running' && !waits);
    return open && this.#membership !== undefined && (this.#watchdog?.well ?? false);
  };

  readonly status = (): readonly ProcessorPartition[] =>
    [...this.#tasks.values()].map(({ partition, phase, lag, clock, watched, restored, size }) => ({
      processor: this.group,
      partition,
      phase,
      lag,
      time: clock.now,
      watched,
      restored,
      keys: size,
    }));

  readonly held = (): readonly number[] => [...this.#tasks.keys()];

  readonly onAssigned = (partitions: ReadonlySet<number>, membership: Membership): void => {
    this.#membership = membership;
    for (const [partition, task] of this.#tasks) {
      if (partitions.has(partition)) continue;
      this.#close(task);
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

  /** No caller awaits this. The partition is paused until it is open; the others continue. */
  #open(partition: number, membership: Membership): void {
    const task = new PartitionTask(this.#log, this.#processor, { ...this.#deps, partition });
    this.#tasks.set(partition, task);
    membership.pause(partition);
    // A restore may take any time while it makes progress. The watchdog detects one that does not.
    void Promise.resolve(this.#closing.get(partition))
      .then(() => task.open(this.#workingWriter()))
      .then(() => {
        if (this.#tasks.get(partition) !== task) return;
        this.#seek(task, membership);
        membership.resume(partition);
        this.#deps.count('partitions_opened', 1, { processor: this.group });
        this.#logger.info({ processor: this.group, partition, states: task.size }, 'running');
      })
      .catch((error: unknown) => this.#lose(task, error));
  }

  /** The partition's next task opens once this one has written its last record: they have the same writer. */
  #close(task: PartitionTask): void {
    const closed = task.close();
    this.#closing.set(
      task.partition,
      (this.#closing.get(task.partition) ?? closed).then(() => closed),
    );
  }

  /** A writer that has failed is replaced by one with a new id, which fences the failed one. */
  #workingWriter(): SharedWriter {
    if (this.#writer.works) return this.#writer;
    this.#former.add(this.#writer.id);
    void this.#writer.close();
    this.#writer = this.#newWriter();
    return this.#writer;
  }

  #newWriter(): SharedWriter {
    const processor = this.group;
    const onCommitted = (ms: number) => {
      this.#deps.count('transactions', 1, { processor });
      this.#deps.count('transaction_duration_seconds', ms / 1000, { processor });
    };
    return new SharedWriter({ log: this.#log, id: `${processor}-${randomUUID()}`, former: this.#former, onCommitted });
  }

  #seek(task: PartitionTask, membership: Membership): void {
    for (const [topic, position] of task.positions) membership.seek(topic, task.partition, position);
  }

  /** Only this partition waits until the registry answers. Then the same record is delivered again. */
  #waitForRegistry(task: PartitionTask, error: RegistryTrouble): void {
    if (this.#stopping || task.phase !== 'running' || this.#waiting.has(task)) return;
    this.#logger.warn(
      { processor: this.group, partition: task.partition, err: error },
      'the partition waits for the registry',
    );
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

  /** A fence is a regular takeover, and the task is reopened later. Any other error ends the process. */
  #lose(task: PartitionTask, error: unknown): void {
    if (task.phase === 'lost') return;
    this.#membership?.pause(task.partition);
    this.#close(task);
    this.#deps.count('partitions_lost', 1, { processor: this.group });
    this.#logger.warn({ processor: this.group, partition: task.partition, err: error }, 'lost');
    if (!(error instanceof Retry)) this.#fail(error as Error);
  }

  #fail(error: Error): void {
    if (!this.#stopping) this.#end(error);
  }

  async #publish(): Promise<void> {
    const running = [...this.#tasks.values()].filter(({ phase }) => phase === 'running');
    for (const task of running) void task.writePositions().catch((error: unknown) => this.#lose(task, error));
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
