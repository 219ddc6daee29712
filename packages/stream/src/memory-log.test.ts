import { describe } from 'vitest';
import { jsonCodec, topicsOf } from './fixture.ts';
import { logContract } from './log.contract.ts';
import { MemoryLog } from './memory-log.ts';
import { runnerContract } from './runner.contract.ts';

const counts: Record<string, number> = {};
const log = new MemoryLog({ topics: counts, codec: jsonCodec() });
let made = 0;

describe('the log in memory', () => {
  logContract({
    log: () => log,
    topic: async (name, partitions) => {
      const topic = `${name}-${made++}`;
      counts[topic] = partitions;
      return topic;
    },
  });
});

/** Clients of one log in memory: closing one closes nothing. */
const client = async () => {
  const { codec, clusterId, partitionCount, bounds, read, fence, write, join, follow } = log;
  return {
    codec,
    clusterId,
    partitionCount,
    bounds,
    read,
    fence,
    write,
    join,
    follow,
    [Symbol.asyncDispose]: async () => {},
  };
};

describe('the processor in memory', () => {
  runnerContract({
    log: client,
    topics: async (partitions) => {
      const run = `run-${made++}`;
      Object.assign(counts, topicsOf(run, partitions));
      return run;
    },
  });
});
