import { describe } from 'vitest';
import { groupContract } from '../../log/group.contract.ts';
import { logContract } from '../../log/log.contract.ts';
import type { Subject } from '../../log/log.fixture.ts';
import { projectionContract } from '../../projection/projection.contract.ts';
import { reactorContract } from '../../reactor/reactor.contract.ts';
import { crashContract } from '../../runner/crash.contract.ts';
import { jsonCodec, topicsOf } from '../../runner/processors.fixture.ts';
import { refusalContract } from '../../runner/refusal.contract.ts';
import { runnerContract } from '../../runner/runner.contract.ts';
import { aliased, type LogFactory } from '../../runner/runner.fixture.ts';
import { MemoryLog } from './memory-log.ts';

const counts: Record<string, number> = {};
const log = new MemoryLog({ topics: counts, codec: jsonCodec() });
let made = 0;

const subject: Subject = {
  log: () => log,
  topic: async (name, partitions) => {
    const topic = `${name}-${made++}`;
    counts[topic] = partitions;
    return topic;
  },
};

describe('the log in memory', () => {
  logContract(subject);
  groupContract(subject);
});

const ground: LogFactory = {
  log: async () => aliased(log),
  topics: async (partitions) => {
    const run = `run-${made++}`;
    Object.assign(counts, topicsOf(run, partitions));
    return run;
  },
};

describe('the processor in memory', () => {
  runnerContract(ground);
  crashContract(ground);
  refusalContract(ground);
});
describe('the runners with effects outside in memory', () => {
  reactorContract(ground);
  projectionContract(ground);
});
