import { Fatal } from '../errors.ts';
import type { Log, Member, Membership } from '../log/log.ts';
import { partitionKey } from '../log/partitioner.ts';
import type { Logger } from '../logger.ts';
import type { Count } from '../metrics.ts';
import type { ReaderPartition } from './partition-status.ts';
import { type PartitionReading, Watchdog } from './watchdog.ts';

/** `finished` rejects with the error that ends the process. */
export type RunningPart = AsyncDisposable & {
  readonly ready: () => boolean;
  readonly status: () => readonly ReaderPartition[];
  readonly finished: Promise<never>;
  readonly stop: () => Promise<void>;
};

/** The options of every reader. `service` names the dead-letter topic. */
export type ReaderOptions = {
  readonly group: string;
  readonly service: string;
  readonly reads: readonly string[];
  readonly count: Count;
  readonly logger: Logger;
};

const PACE_MS = 50;

/** A member of a group whose effects are outside the log: its partitions, as the group and the watchdog see them. */
export abstract class GroupReader<Options extends ReaderOptions> {
  readonly group: string;
  readonly topics: readonly string[];
  readonly paceMs = PACE_MS;
  readonly finished: Promise<never>;
  protected readonly log: Log;
  protected readonly options: Options;
  protected readonly end: (error: unknown) => void;
  protected assigned: ReadonlySet<number> = new Set();
  protected membership: Membership | undefined;
  /** empty until the positions are known */
  protected progress = new Map<number, { -readonly [K in keyof PartitionReading]: PartitionReading[K] }>();

  constructor(log: Log, options: Options) {
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => {});
    this.finished = promise;
    this.end = reject;
    this.log = log;
    this.options = options;
    this.group = options.group;
    this.topics = options.reads;
  }

  abstract get ready(): boolean;
  /** the partitions that are read now */
  abstract watched(): Iterable<PartitionReading>;

  readonly held = (): readonly number[] => [...this.assigned];
  readonly onHeartbeat = (): void => {};
  readonly onLost = (error: Error): void => this.end(error);

  stuck(message: string): void {
    this.end(new Fatal(`${this.group}: no progress: ${message}`));
  }

  /** Starts the watchdog of the assigned partitions. `at`: the next offset to read, by `topic/partition`. */
  protected watch(at: (key: string) => number | undefined): void {
    const { topics } = this;
    const readingOf = (partition: number) => ({
      partition,
      phase: 'running' as const,
      progress: 0,
      get positions(): ReadonlyMap<string, number> {
        return new Map(
          topics.flatMap((topic) => {
            const position = at(partitionKey(topic, partition));
            return position === undefined ? [] : [[topic, position] as const];
          }),
        );
      },
    });
    this.progress = new Map([...this.assigned].map((partition) => [partition, readingOf(partition)]));
  }

  /** The last seen end of each input, by `topic/partition`. */
  protected readonly ends = new Map<string, number>();

  readonly status = (): readonly ReaderPartition[] =>
    [...this.progress.values()].map(({ partition, phase, positions }) => {
      let lag = 0;
      for (const topic of this.topics) {
        const key = partitionKey(topic, partition);
        const [position, end] = [positions.get(topic), this.ends.get(key)];
        if (position !== undefined && end !== undefined) lag += Math.max(0, end - position);
      }
      return { processor: this.group, partition, phase, lag };
    });

  protected countProgress(partition: number): void {
    const known = this.progress.get(partition);
    if (known !== undefined) known.progress += 1;
  }
}

/** Joins the group. `stop` ends the reader's own work. */
export const runReader = async (
  log: Log,
  reader: GroupReader<ReaderOptions> & Member,
  end: () => Promise<void> | void,
): Promise<RunningPart> => {
  const membership = await log.join(reader);
  const watchdog = new Watchdog(
    log,
    () => reader.watched(),
    reader.topics,
    (what) => reader.stuck(what),
  );
  const stop = async () => {
    watchdog.stop();
    await end();
    await membership.stop();
  };
  return {
    ready: () => reader.ready && watchdog.well,
    status: reader.status,
    finished: reader.finished,
    stop,
    [Symbol.asyncDispose]: stop,
  };
};
