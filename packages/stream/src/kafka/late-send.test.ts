import { createRequire } from 'node:module';
import { expect, test } from 'vitest';

/** The patched part of the client, with a fake broker. */
const inside = <T>(path: string): T => createRequire(import.meta.url)(`kafkajs/src/${path}`) as T;

type Send = (given: { acks: number; topicMessages: readonly object[] }) => Promise<readonly object[]>;
const createSend = inside<(deps: object) => Send>('producer/sendMessages.js');
const createRetry = inside<(retry: object) => object>('retry/index.js');
const { createErrorFromCode } = inside<{ createErrorFromCode(code: number): Error }>('protocol/error.js');

const NOT_LEADER = 6;
const eosManager = {
  isTransactional: () => false,
  acquireBrokerLock: async () => {},
  releaseBrokerLock: async () => {},
  getSequence: () => 0,
  updateSequence: () => {},
  getProducerId: () => 1,
  getProducerEpoch: () => 0,
};

/** A producer of one partition. Its broker refuses the first try, and `meanwhile` runs at each awaited step. */
const producer = (meanwhile: (step: 'metadata' | 'produce', at: { isClosed: boolean }) => void) => {
  const state = { isClosed: false, isConnected: true };
  const seen: string[] = [];
  const produce = async () => {
    seen.push('produce');
    meanwhile('produce', state);
    if (seen.filter((step) => step === 'produce').length === 1) throw createErrorFromCode(NOT_LEADER);
    return { topics: [] };
  };
  const cluster = {
    targetTopics: new Set(),
    addMultipleTargetTopics: async () => {},
    refreshMetadataIfNecessary: async () => meanwhile('metadata', state),
    refreshMetadata: async () => void seen.push('refresh'),
    findTopicPartitionMetadata: () => [{ partitionId: 0, leader: 1 }],
    findLeaderForPartitions: () => ({ 1: [0] }),
    findBroker: async () => ({ nodeId: '1', produce }),
    isConnected: () => !state.isClosed,
    connect: async () => void seen.push('connect'),
    removeBroker: () => {},
  };
  const logger = { debug: () => {}, error: () => {} };
  const retrier = createRetry({ retries: 5, initialRetryTime: 1, maxRetryTime: 1, factor: 0, multiplier: 1 });
  const partitioner = () => 0;
  const send = createSend({ logger, cluster, partitioner, eosManager, retrier, isClosed: () => state.isClosed });
  const topicMessages = [{ topic: 't', messages: [{ key: 'a', value: Buffer.from('a') }] }];
  return { seen, send: () => send({ acks: -1, topicMessages }) };
};

test('a producer that is disconnected while it sends does not reconnect and sends nothing more, because newer records may already be written', async () => {
  const { send, seen } = producer((step, state) => {
    if (step === 'produce') state.isClosed = true;
  });
  await expect(send()).rejects.toThrow('disconnected before it had sent');
  expect(seen).toEqual(['produce']);
});

test('a disconnected producer does not send the batch that it was about to send', async () => {
  const { send, seen } = producer((step, state) => {
    if (step === 'metadata') state.isClosed = true;
  });
  await expect(send()).rejects.toThrow('disconnected before it had sent');
  expect(seen).toEqual([]);
});

test('a connected producer retries', async () => {
  const { send, seen } = producer(() => {});
  await send();
  expect(seen).toEqual(['produce', 'refresh', 'produce']);
});
