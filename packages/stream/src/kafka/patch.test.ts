import { createRequire } from 'node:module';
import { expect, test } from 'vitest';

/**
 * The internals of the client that the patch changes. Each part has a test, so that a new version of the client cannot
 * lose one unnoticed.
 */
const inside = <T>(path: string): T => createRequire(import.meta.url)(`kafkajs/src/${path}`) as T;

type Message = {
  readonly offset: string;
  readonly key: Buffer;
  readonly isControlRecord?: boolean;
  readonly batchContext: object;
};
const filterAborted = inside<(given: { messages: Message[]; abortedTransactions: object[] }) => Message[]>(
  'consumer/filterAbortedMessages.js',
);

const ABORT = Buffer.from([0, 0, 0, 0]);
const COMMIT = Buffer.from([0, 0, 0, 1]);
const message = (offset: number, producerId: string, key = `k${offset}`): Message => ({
  offset: String(offset),
  key: Buffer.from(key),
  batchContext: { producerId, inTransaction: true },
});
const marker = (offset: number, producerId: string, key: Buffer): Message => ({
  offset: String(offset),
  key,
  isControlRecord: true,
  batchContext: { producerId, inTransaction: true },
});
const seen = (messages: Message[], aborted: readonly [string, number][]) =>
  filterAborted({
    messages,
    abortedTransactions: aborted.map(([producerId, firstOffset]) => ({ producerId, firstOffset: String(firstOffset) })),
  })
    .filter(({ isControlRecord }) => !isControlRecord)
    .map(({ offset }) => Number(offset));

test('records of interleaved aborted transactions are hidden, those of committed ones are not', () => {
  const messages = [
    message(0, 'a'),
    message(1, 'b'),
    message(2, 'c'),
    marker(3, 'a', ABORT),
    message(4, 'b'),
    marker(5, 'b', ABORT),
    message(6, 'b'),
    marker(7, 'b', COMMIT),
    marker(8, 'c', COMMIT),
  ];
  expect(
    seen(messages, [
      ['a', 0],
      ['b', 1],
    ]),
  ).toEqual([2, 6]);
  expect(
    seen(messages, [
      ['b', 1],
      ['a', 0],
    ]),
  ).toEqual([2, 6]);
});

test('a record whose key looks like an abort marker ends no transaction', () => {
  const lookalike = { ...message(0, 'a'), key: ABORT };
  expect(seen([lookalike, message(1, 'a'), marker(2, 'a', ABORT), message(3, 'a')], [['a', 0]])).toEqual([3]);
});

const emptiedBatch = (firstOffset: bigint, lastOffsetDelta: number): Buffer => {
  const batch = Buffer.alloc(61);
  batch.writeBigInt64BE(firstOffset, 0);
  batch.writeInt32BE(49, 8);
  batch.writeInt8(2, 16);
  batch.writeInt32BE(lastOffsetDelta, 23);
  return batch;
};

test('a batch that compaction has emptied is skipped: a control record takes the place of its last offset', async () => {
  const Decoder = inside<new (bytes: Buffer) => object>('protocol/decoder.js');
  const decode = inside<(decoder: object) => Promise<{ offset: string; isControlRecord: boolean }[]>>(
    'protocol/requests/fetch/v4/decodeMessages.js',
  );
  const batch = emptiedBatch(40n, 5);
  const size = Buffer.alloc(4);
  size.writeInt32BE(batch.length);
  const records = await decode(new Decoder(Buffer.concat([size, batch])));
  expect(records.map(({ offset, isControlRecord }) => ({ offset, isControlRecord }))).toEqual([
    { offset: '45', isControlRecord: true },
  ]);
});

test('the retry settings of the client reach the producer and its transactions', () => {
  const Cluster = inside<new (options: object) => { retry: object }>('cluster/index.js');
  const logger = { namespace: () => logger, debug: () => {}, error: () => {}, info: () => {}, warn: () => {} };
  const retry = { retries: 3, initialRetryTime: 20 };
  expect(new Cluster({ logger, retry, brokers: ['127.0.0.1:1'], metadataMaxAge: 1000 }).retry).toBe(retry);
});

test('a request queue without waiting requests arms no timer, and so no timer with a negative delay', () => {
  const RequestQueue = inside<
    new (
      options: object,
    ) => { scheduleCheckPendingRequests(): void; throttleCheckTimeoutId: unknown }
  >('network/requestQueue/index.js');
  const queue = new RequestQueue({ maxInFlightRequests: 1, logger: {} });
  queue.scheduleCheckPendingRequests();
  expect(queue.throttleCheckTimeoutId).toBeNull();
});

type RunnerOptions = Readonly<Record<'logger' | 'consumerGroup' | 'instrumentationEmitter' | 'onCrash', unknown>>;
const Runner =
  inside<new (options: RunnerOptions) => { start(): Promise<void>; stop(): Promise<void> }>('consumer/runner.js');

test.each(['connect', 'joinAndSync'] as const)(
  'a consumer that is stopped during %s fetches nothing afterwards',
  async (slow) => {
    const calls: string[] = [];
    const finish = Promise.withResolvers<void>();
    const step = (name: string) => async () => {
      calls.push(name);
      if (name === slow) await finish.promise;
    };
    const silent = { info: () => {}, debug: () => {}, warn: () => {}, error: () => {} };
    const logger = { ...silent, namespace: () => ({ ...silent, namespace: () => silent }) };
    const consumerGroup = {
      ...{ connect: step('connect'), joinAndSync: step('joinAndSync'), leave: step('leave'), fetch: step('fetch') },
      ...{ getNodeIds: () => [0], cluster: { disconnect: step('disconnect') } },
    };
    const onCrash = () => void calls.push('crash');
    const runner = new Runner({ logger, consumerGroup, instrumentationEmitter: { emit: () => {} }, onCrash });
    const started = runner.start();
    await expect.poll(() => calls).toContain(slow);
    await runner.stop();
    finish.resolve();
    await started;
    await new Promise((resolve) => setImmediate(resolve));
    expect(calls.slice(calls.indexOf(slow))).toEqual([slow, 'leave', 'disconnect']);
  },
);

type Fetching = { readonly maxWaitTime: number; readonly minBytes: number };

/** A member of a group with one partition, on a broker that answers with these numbers of records. */
const memberOf = (answers: readonly number[], options: object) => {
  const asked: Fetching[] = [];
  const left = [...answers];
  const fetch = async ({ maxWaitTime, minBytes }: Fetching) => {
    asked.push({ maxWaitTime, minBytes });
    const messages = Array.from({ length: left.shift() ?? 0 }, (_, i) => message(i, 'a'));
    return { responses: [{ topicName: 't', partitions: [{ partition: 0, highWatermark: '9', messages }] }] };
  };
  const logger = { namespace: () => logger, debug: () => {}, error: () => {}, info: () => {}, warn: () => {} };
  const Group =
    inside<new (options: object) => { fetch(nodeId: number): Promise<unknown> }>('consumer/consumerGroup.js');
  const cluster = { refreshMetadataIfNecessary: async () => {}, findBroker: async () => ({ fetch }) };
  const member = Object.assign(new Group({ logger, cluster, topics: ['t'], topicConfigurations: {}, ...options }), {
    checkForStaleAssignment: () => {},
    filterPartitionsByNode: () => [{ topic: 't', partitions: [0] }],
    seekOffsets: async () => {},
    getActiveTopicPartitions: () => ({ t: new Set([0]) }),
    offsetManager: { committedOffsets: () => ({ t: { 0: '0' } }), nextOffset: () => 0n },
    recoverFromFetch: async (error: unknown) => Promise.reject(error),
  });
  return { asked, fetch: () => member.fetch(1) };
};

const paced = { maxWaitTime: 20, minBytes: 1000 };
const idle = { maxWaitTime: 250, minBytes: 1 };

test('after an empty answer a fetch waits for its first record; after a record it waits for a batch again', async () => {
  const w = memberOf([0, 0, 2, 1, 0], { maxWaitTimeInMs: 20, minBytes: 1000, idleWaitTimeInMs: 250 });
  for (let i = 0; i < 6; i++) await w.fetch();
  expect(w.asked).toEqual([paced, idle, idle, paced, paced, idle]);
});

test('a consumer without a waiting time for empty topics always waits for a batch', async () => {
  const w = memberOf([0, 0], { maxWaitTimeInMs: 20, minBytes: 1000 });
  for (let i = 0; i < 3; i++) await w.fetch();
  expect(w.asked).toEqual([paced, paced, paced]);
});
