import { createRequire } from 'node:module';
import { expect, test } from 'vitest';

/** The patched parts of the client, with fake brokers. */
const inside = <T>(path: string): T => createRequire(import.meta.url)(`kafkajs/src/${path}`) as T;

type Placed = { readonly topic: string; readonly partition: number };
type Request = {
  readonly topicData: readonly {
    readonly topic: string;
    readonly partitions: readonly {
      readonly partition: number;
      readonly firstSequence: number;
      readonly messages: readonly { readonly key: string }[];
    }[];
  }[];
};
type EosManager = {
  initProducerId(): Promise<void>;
  beginTransaction(): void;
  commit(): Promise<void>;
};
type Send = (given: { acks: number; topicMessages: readonly object[] }) => Promise<readonly object[]>;

const createSend = inside<(deps: object) => Send>('producer/sendMessages.js');
const createEosManager = inside<(deps: object) => EosManager>('producer/eosManager/index.js');
const createRetry = inside<(retry: object) => object>('retry/index.js');
const { createErrorFromCode } = inside<{ createErrorFromCode(code: number): Error }>('protocol/error.js');
const { KafkaJSConnectionClosedError } = inside<{
  KafkaJSConnectionClosedError: new (message: string, at: object) => Error;
}>('errors.js');

const NOT_LEADER = 6;
const MESSAGE_TOO_LARGE = 10;
const keyOf = ({ topic, partition }: Placed) => `${topic}/${partition}`;
const refused = (code: number) => async () => {
  throw createErrorFromCode(code);
};

type Leaders = Readonly<Record<string, string>>;
const RECORDS = [
  { topic: 'out', partition: 0, key: 'a' },
  { topic: 'out', partition: 1, key: 'b' },
  { topic: 'snapshot', partition: 0, key: '@position' },
];
const BEFORE: Leaders = { 'out/0': 'A', 'out/1': 'B', 'snapshot/0': 'B' };

/** Two brokers, and a client that has the metadata of `BEFORE` until it requests them again. */
const cluster = (leaders: Leaders) => {
  const written: string[] = [];
  const sequences: string[] = [];
  const ended: boolean[] = [];
  const removed: object[] = [];
  let known: Leaders = BEFORE;
  /** what a broker does instead of its first answer, by broker */
  const first = new Map<string, () => Promise<void>>();
  const produce = (id: string) => async (request: Request) => {
    const instead = first.get(id);
    first.delete(id);
    await instead?.();
    const placed = request.topicData.flatMap(({ topic, partitions }) => partitions.map((p) => ({ topic, ...p })));
    const mine = placed.filter((p) => leaders[keyOf(p)] === id);
    for (const p of mine) {
      const batch = `${keyOf(p)}#${p.firstSequence}`;
      if (sequences.includes(batch)) continue; // a broker writes a batch that is repeated once
      sequences.push(batch);
      written.push(...p.messages.map(({ key }) => `${keyOf(p)} ${key}`));
    }
    if (mine.length < placed.length) throw createErrorFromCode(NOT_LEADER);
    const topics = placed.map(({ topic, partition }) => ({
      topicName: topic,
      partitions: [{ partition, errorCode: 0 }],
    }));
    return { topics };
  };
  const broker = (id: string) => ({
    nodeId: id,
    isConnected: () => true,
    initProducerId: async () => ({ producerId: 7, producerEpoch: 0 }),
    addPartitionsToTxn: async () => ({}),
    endTxn: async ({ transactionResult }: { transactionResult: boolean }) => void ended.push(transactionResult),
    produce: produce(id),
  });
  const brokers: Readonly<Record<string, ReturnType<typeof broker>>> = { A: broker('A'), B: broker('B') };
  const hasOnlyLeaders = (some: Leaders) => {
    known = some;
  };
  const partitionsOf = (topic: string) =>
    Object.keys(known).flatMap((key) => (key.startsWith(`${topic}/`) ? [Number(key.split('/')[1])] : []));
  const client = {
    retry: { initialRetryTime: 1, retries: 5 },
    targetTopics: new Set(),
    isConnected: () => true,
    removeBroker: (at: object) => removed.push(at),
    addMultipleTargetTopics: async () => {},
    refreshMetadataIfNecessary: async () => {},
    refreshMetadata: async () => {
      known = leaders;
    },
    findTopicPartitionMetadata: (topic: string) => partitionsOf(topic).map((partitionId) => ({ partitionId })),
    findLeaderForPartitions: (topic: string, partitions: readonly string[]) => {
      const requested = partitions.map(Number).filter((partition) => partitionsOf(topic).includes(partition));
      return Object.groupBy(requested, (partition) => known[keyOf({ topic, partition })] as string);
    },
    findBroker: async ({ nodeId }: { nodeId: string }) => brokers[nodeId],
    findGroupCoordinator: async () => brokers.A,
  };
  return { client, first, written, ended, removed, hasOnlyLeaders };
};

const logger: object = {
  namespace: () => logger,
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
};

/** Sends the three records in one transaction, and commits. */
const commit = async ({ client }: ReturnType<typeof cluster>) => {
  const given = { transactionTimeout: 10_000, transactional: true, transactionalId: 'evaluator-0' };
  const eosManager = createEosManager({ logger, cluster: client, ...given });
  await eosManager.initProducerId();
  eosManager.beginTransaction();
  const partitioner = ({ message }: { message: { partition: number } }) => message.partition;
  const send = createSend({
    logger,
    cluster: client,
    partitioner,
    eosManager,
    isClosed: () => false,
    retrier: createRetry(client.retry),
  });
  const groups = Map.groupBy(RECORDS, ({ topic }) => topic);
  const topicMessages = [...groups].map(([topic, messages]) => ({ topic, messages }));
  const answers = await send({ acks: -1, topicMessages });
  await eosManager.commit();
  return answers;
};

const ALL = RECORDS.map((record) => `${keyOf(record)} ${record.key}`).sort();
const MOVED: Leaders = { 'out/0': 'A', 'out/1': 'A', 'snapshot/0': 'A' };

test('records of partitions that move to a broker that has answered already are still sent to it', async () => {
  const scene = cluster(MOVED);
  const answers = await commit(scene);
  expect(scene.written.toSorted()).toEqual(ALL);
  expect(answers).toHaveLength(ALL.length);
  expect(scene.ended).toEqual([true]);
});

test('a broker that answers only after another has refused does not receive its records twice', async () => {
  const scene = cluster(MOVED);
  const refusedByB = Promise.withResolvers<void>();
  scene.first.set('A', () => refusedByB.promise);
  scene.first.set('B', async () => {
    setTimeout(refusedByB.resolve, 20); // later than a retry would begin
    await refused(NOT_LEADER)();
  });
  await commit(scene);
  expect(scene.written.toSorted()).toEqual(ALL);
});

test('partitions that swap their brokers in the middle of a send are each written once', async () => {
  const scene = cluster({ 'out/0': 'B', 'out/1': 'A', 'snapshot/0': 'B' });
  await commit(scene);
  expect(scene.written.toSorted()).toEqual(ALL);
});

test('a send waits for a partition that the metadata do not name, and never omits it', async () => {
  const scene = cluster(BEFORE);
  scene.hasOnlyLeaders({ 'out/0': 'A', 'snapshot/0': 'B' });
  await commit(scene);
  expect(scene.written.toSorted()).toEqual(ALL);
});

test('an error that is not retriable ends the send at once, even together with one that is', async () => {
  const scene = cluster(MOVED);
  scene.first.set('A', refused(MESSAGE_TOO_LARGE));
  await expect(commit(scene)).rejects.toMatchObject({ type: 'MESSAGE_TOO_LARGE' });
  expect(scene.ended).toEqual([]);
  expect(scene.written).toEqual([]);
});

test('the client reconnects to every broker that closed its connection, the second included', async () => {
  const scene = cluster(BEFORE);
  const closed = (host: string) => async () => {
    throw new KafkaJSConnectionClosedError('closed', { host, port: 9092 });
  };
  scene.first.set('A', closed('a')).set('B', closed('b'));
  await commit(scene);
  expect(scene.removed).toEqual(
    expect.arrayContaining([
      { host: 'a', port: 9092 },
      { host: 'b', port: 9092 },
    ]),
  );
  expect(scene.written.toSorted()).toEqual(ALL);
});
