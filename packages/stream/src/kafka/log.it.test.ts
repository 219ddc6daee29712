import { afterAll, describe } from 'vitest';
import { groupContract } from '../log/group.contract.ts';
import { logContract } from '../log/log.contract.ts';
import type { Subject } from '../log/log.fixture.ts';
import type { Log } from '../log/log.ts';
import { silentLogger } from '../logger.ts';
import { projectionContract } from '../projection/projection.contract.ts';
import { reactorContract } from '../reactor/reactor.contract.ts';
import { crashContract } from '../runner/crash.contract.ts';
import { jsonCodec, topicsOf } from '../runner/processors.fixture.ts';
import { refusalContract } from '../runner/refusal.contract.ts';
import { runnerContract } from '../runner/runner.contract.ts';
import type { LogFactory } from '../runner/runner.fixture.ts';
import { connectLog } from './connect.ts';
import { closeServers, kafka, makeTopics, moveLeaders, unique } from './servers.fixture.ts';

const connect = () =>
  connectLog({ kafka, clientId: unique('client'), codec: jsonCodec(), sessionMs: 3000, logger: silentLogger });

const shared: Log = await connect();
const done = new AbortController();
const moving = moveLeaders(done.signal);
afterAll(async () => {
  done.abort();
  await moving;
  await shared[Symbol.asyncDispose]();
  await closeServers();
});

const subject: Subject = {
  log: () => shared,
  topic: async (name, partitions) => {
    const topic = unique(name);
    await makeTopics({ [topic]: partitions });
    return topic;
  },
};

describe('the log on Kafka', () => {
  logContract(subject);
  groupContract(subject);
});

const ground: LogFactory = {
  log: connect,
  topics: async (partitions) => {
    const run = unique('run');
    await makeTopics(topicsOf(run, partitions));
    return run;
  },
};

describe('the processor on Kafka', () => {
  runnerContract(ground);
  crashContract(ground);
  refusalContract(ground);
});
describe('the runners with effects outside on Kafka', () => {
  reactorContract(ground);
  projectionContract(ground);
});
