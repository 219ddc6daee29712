import { afterAll, describe } from 'vitest';
import { jsonCodec, topicsOf } from '../fixture.ts';
import { logContract } from '../log.contract.ts';
import type { Log } from '../log.ts';
import { runnerContract } from '../runner.contract.ts';
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

describe('the processor on Kafka', () => {
  runnerContract({
    log: connect,
    topics: async (partitions) => {
      const run = unique('run');
      await makeTopics(topicsOf(run, partitions));
      return run;
    },
  });
});
