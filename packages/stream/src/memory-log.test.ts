import { describe } from 'vitest';
import { jsonCodec, topicsOf } from './fixture.ts';
import { logContract } from './log.contract.ts';
import { MemoryLog } from './memory-log.ts';
import { outsideContract } from './outside.contract.ts';
import { type Ground, runnerContract } from './runner.contract.ts';

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

const ground: Ground = {
  log: client,
  topics: async (partitions) => {
    const run = `run-${made++}`;
    Object.assign(counts, topicsOf(run, partitions));
    return run;
  },
};

describe('the processor in memory', () => runnerContract(ground));
describe('the runners with effects outside in memory', () => outsideContract(ground));
