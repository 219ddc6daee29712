import { catalogue, type Draft, type TopicName } from '@vigil/events';
import { Refused } from '../errors.ts';
import { deadLetterTopic } from '../log/dead-letters.ts';
import type { Log } from '../log/log.ts';
import type { Logger } from '../logger.ts';
import type { Count } from '../metrics.ts';
// biome-ignore lint/suspicious/noImportCycles: only types come back
import { GroupMember } from './group-member.ts';
import type { Phase } from './partition-task.ts';
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

/** `lag`: records not read yet, of all inputs. `time`: the partition's now, epoch milliseconds; 0: it has not begun. */
export type PartitionStatus = {
  readonly partition: number;
  readonly phase: Phase;
  readonly lag: number;
  readonly time: number;
  /** watched time, milliseconds: where it grows more slowly than `time`, detection slows down */
  readonly watched: number;
};

/** `finished` never resolves; it rejects with Refused or Fatal, which end the process (`exitCode`). */
export type RunningProcessor = AsyncDisposable & {
  /** assigned, every held partition is open, and no partition stops while it has something to read */
  readonly ready: () => boolean;
  readonly status: () => readonly PartitionStatus[];
  readonly finished: Promise<never>;
  readonly stop: () => Promise<void>;
};

/** Kafka → Kafka, exactly once: outputs, state and input positions in one transaction. Throws Refused where topics do not fit. */
export const runProcessor = async <State, In extends TopicName, Out extends TopicName>(
  log: Log,
  processor: Processor<State, In, Out>,
  options: ProcessorOptions,
): Promise<RunningProcessor> => {
  const any = anyProcessor(processor);
  const counts = await countPartitions(log, any, options.partitions);
  const run = new GroupMember(log, any, options, counts);
  await run.start();
  return {
    ready: () => run.ready,
    status: () => run.status,
    finished: run.finished,
    stop: () => run.stop(),
    [Symbol.asyncDispose]: () => run.stop(),
  };
};

/** Inputs and snapshot are assigned together, so they have the same number of partitions. */
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
