import { availableParallelism } from 'node:os';
import { Topic } from '@vigil/events';
import { inChild, joined, logSource, type ReplayProgress, type Verified, verify } from '@vigil/health/replay';
import { directSettings } from '../config.ts';
import { withLog } from '../kafka.ts';
import { replaying, type SpanOptions } from './source.ts';
import type { Share } from './verify-worker.ts';

/**
 * A process takes seconds of a core to start, so each has at least so many records. On two cores a log of 400,000 takes
 * as long in two processes as in one.
 */
const LEAST_RECORDS = 200_000;

/**
 * The partitions of each process: the largest first, each to the process that has the fewest records. `sizes`: the records of
 * each partition.
 */
export const sharesOf = (sizes: readonly number[], cores: number): readonly (readonly number[])[] => {
  const records = sizes.reduce((sum, size) => sum + size, 0);
  const count = Math.min(cores, sizes.filter((size) => size > 0).length, Math.floor(records / LEAST_RECORDS));
  const shares = Array.from({ length: Math.max(1, count) }, () => ({ records: 0, partitions: [] as number[] }));
  const largest = [...sizes.entries()].toSorted(([, a], [, b]) => b - a);
  for (const [partition, size] of largest) {
    const least = shares.reduce((one, other) => (other.records < one.records ? other : one));
    least.records += size;
    least.partitions.push(partition);
  }
  return shares.map(({ partitions }) => partitions);
};

/** Verifies each share in a process of its own. The first failure ends the others. */
const inChildren = async (
  shares: readonly Share[],
  onProgress: ReplayProgress,
  signal: AbortSignal,
): Promise<Verified> => {
  const read = shares.map(() => ({ done: 0, of: 0 }));
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const verifyShare = (data: Share, index: number): Promise<Verified> => {
    const child = { file: new URL('./verify-worker.ts', import.meta.url), data, memoryMb: null, output: null };
    const step: ReplayProgress = (done, of) => {
      read[index] = { done, of };
      onProgress(
        read.reduce((sum, one) => sum + one.done, 0),
        read.reduce((sum, one) => sum + one.of, 0),
      );
    };
    return inChild<Verified>(child, step, either);
  };
  try {
    return joined(await Promise.all(shares.map(verifyShare)));
  } finally {
    failed.abort();
  }
};

/** Compares the decisions of a span of the log, on all cores: partitions have no state in common. Throws CannotProceed. */
export const verifyLog = (options: SpanOptions): Promise<Verified> =>
  replaying(options, (span, onProgress, signal) => {
    const settings = directSettings(process.env);
    return withLog(settings, async (log) => {
      const sizes = (await log.bounds(Topic.agentObservation)).map(({ low, high }) => high - low);
      const shares = span.agent === null ? sharesOf(sizes, availableParallelism()) : [];
      if (shares.length < 2) return verify(await logSource(log, span, onProgress), signal);
      return inChildren(
        shares.map((part) => ({ settings, span, part })),
        onProgress,
        signal,
      );
    });
  });
