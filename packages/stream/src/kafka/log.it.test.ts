import { afterAll, describe } from 'vitest';
import { jsonCodec, topicsOf } from '../fixture.ts';
import { logContract } from '../log.contract.ts';
import type { Log } from '../log.ts';
import { outsideContract } from '../outside.contract.ts';
import { type Ground, runnerContract } from '../runner.contract.ts';
import { connectLog } from './connect.ts';
import { brokers, closeServers, makeTopics, unique } from './servers.fixture.ts';

const connect = () => connectLog({ brokers, clientId: unique('client'), codec: jsonCodec(), sessionMs: 3000 });

const shared: Log = await connect();
afterAll(async () => {
  await shared[Symbol.asyncDispose]();
  await closeServers();
});

describe('the log on Kafka', () => {
  logContract({
    log: () => shared,
    topic: async (name, partitions) => {
      const topic = unique(name);
      await makeTopics({ [topic]: partitions });
      return topic;
    },
  });
});

const ground: Ground = {
  log: connect,
  topics: async (partitions) => {
    const run = unique('run');
    await makeTopics(topicsOf(run, partitions));
    return run;
  },
};

describe('the processor on Kafka', () => runnerContract(ground));
describe('the runners with effects outside on Kafka', () => outsideContract(ground));
