import { randomBytes } from 'node:crypto';
import type { Producer } from 'kafkajs';
import { afterAll, expect, test, vi } from 'vitest';
import type { LogRecord } from '../log/log.ts';
import { silentLogger } from '../logger.ts';
import { jsonCodec } from '../runner/processors.fixture.ts';
import { createPartitioner } from './client.ts';
import { connectLog } from './connect.ts';
import { hangingTransactions } from './hanging-transactions.ts';
import { clients, closeServers, kafka, makeTopics, unique } from './servers.fixture.ts';

const log = await connectLog({ kafka, clientId: unique('client'), codec: jsonCodec(), logger: silentLogger });
const opened: Producer[] = [];
afterAll(async () => {
  for (const producer of opened) await producer.disconnect();
  await log[Symbol.asyncDispose]();
  await closeServers();
});

const connected = async (options: {
  transactionalId?: string;
  idempotent?: boolean;
  transactionTimeout?: number;
}): Promise<Producer> => {
  const producer = clients.producers.producer({ ...options, maxInFlightRequests: 1, createPartitioner });
  opened.push(producer);
  await producer.connect();
  return producer;
};
const topicOf = async (name: string, config = {}) => {
  const topic = unique(name);
  await makeTopics({ [topic]: 1 }, config);
  return topic;
};
const readAll = async (topic: string): Promise<readonly LogRecord[]> => {
  const records: LogRecord[] = [];
  const [range] = await log.bounds(topic);
  await log.read(topic, 0, range!, (record) => records.push(record), AbortSignal.timeout(60_000));
  return records;
};
const message = (key: string | Buffer) => ({ key, value: 'x', partition: 0 });

test('aborted records do not leak out of interleaved transactions, or past keys that look like markers', async () => {
  const topic = await topicOf('leak');
  const [a, b] = [
    await connected({ transactionalId: `${topic}-a` }),
    await connected({ transactionalId: `${topic}-b` }),
  ];
  const [ta, tb] = [await a.transaction(), await b.transaction()];
  await ta.send({ topic, messages: [message('A1'), message(Buffer.from([0, 0, 0, 0])), message('A2')] });
  await tb.send({ topic, messages: [message('B1')] });
  await ta.send({ topic, messages: [message('A3')] });
  await ta.abort();
  await tb.abort();
  const committed = await b.transaction();
  await committed.send({ topic, messages: [message('B2')] });
  await committed.commit();
  expect((await readAll(topic)).map(({ key }) => key)).toEqual(['B2']);
});

test('transactions follow each other back to back, offsets among them, without an error reaching the caller', async () => {
  const topic = await topicOf('back-to-back');
  const producer = await connected({ transactionalId: `${topic}-0` });
  // The first group of a cluster has its coordinator a moment later.
  await vi.waitFor(() => log.groupOffsets(`${topic}-group`, topic), { timeout: 30_000 });
  for (let i = 0; i < 20; i++) {
    const transaction = await producer.transaction();
    await transaction.sendOffsets({
      consumerGroupId: `${topic}-group`,
      topics: [{ topic, partitions: [{ partition: 0, offset: String(i) }] }],
    });
    await transaction.send({ topic, messages: [message(`k${i}`)] });
    await transaction.commit();
  }
  expect(await readAll(topic)).toHaveLength(20);
});

test('the coordinator of a transactional id is looked up once, not before every call', async () => {
  const topic = await topicOf('coordinator');
  const producer = await connected({ transactionalId: `${topic}-0` });
  let requests = 0;
  producer.on(producer.events.REQUEST, ({ payload }) => {
    if (payload.apiName === 'GroupCoordinator' || payload.apiName === 'FindCoordinator') requests += 1;
  });
  for (let i = 0; i < 5; i++) {
    const transaction = await producer.transaction();
    await transaction.send({ topic, messages: [message(`k${i}`)] });
    await transaction.commit();
  }
  expect(requests).toBeLessThanOrEqual(2);
});

test('an end is the log’s end, also after an unfinished transaction; one that lasts too long is reported', async () => {
  const topic = await topicOf('open');
  const producer = await connected({ transactionalId: `${topic}-0` });
  const transaction = await producer.transaction();
  await transaction.send({ topic, messages: [message('hidden')] });
  expect(await log.bounds(topic)).toEqual([{ low: 0, high: 1 }]);
  expect(await log.stableEnds(topic)).toEqual([0]);
  const look = hangingTransactions(log, [topic]);
  expect(await look(0)).toEqual([]);
  expect(await look(20_000)).toEqual([]);
  expect(await look(20_001)).toEqual([{ topic, partition: 0, stableEnd: 0, end: 1, forMs: 20_001 }]);
  await transaction.abort();
  await vi.waitFor(async () => expect(await look(40_000)).toEqual([]), { timeout: 60_000, interval: 100 });
});

test('fencing an id ends its open transaction at once, and the records after it become readable', async () => {
  const topic = await topicOf('takeover');
  const dead = await connected({ transactionalId: `${topic}-0`, transactionTimeout: 60_000 });
  const transaction = await dead.transaction();
  await transaction.send({ topic, messages: [message('half done')] });
  const transactor = await log.fence(`${topic}-0`);
  await transactor.commit([{ topic, partition: 0, key: 'whole', value: null }]);
  expect((await readAll(topic)).map(({ key }) => key)).toEqual(['whole']);
  await transactor.close();
});

test('batches in gzip and zstd of other clients are read, and so are those of mixed codecs', async () => {
  const topic = await topicOf('codecs');
  const producer = await connected({});
  for (const compression of [0, 1, 4])
    await producer.send({ topic, compression, messages: [message(`codec-${compression}`)] });
  expect((await readAll(topic)).map(({ key }) => key)).toEqual(['codec-0', 'codec-1', 'codec-4']);
});

test('a compacted topic is read to its end where the cleaner has emptied batches', async () => {
  const topic = await topicOf('emptied', {
    'cleanup.policy': 'compact',
    'segment.bytes': '1048576',
    'segment.ms': '1000',
    'min.cleanable.dirty.ratio': '0.01',
  });
  const write = async (who: string) => {
    const producer = await connected({ idempotent: true });
    const messages = Array.from({ length: 700 }, (_, i) => ({
      key: who === 'c' ? `c${i}` : `k${i}`,
      value: randomBytes(500).toString('hex'),
      partition: 0,
    }));
    await producer.send({ topic, messages });
  };
  for (const who of ['a', 'b', 'c']) {
    await write(who);
    await new Promise((resolve) => setTimeout(resolve, 1100)); // the broker rolls segments by age, so only time helps
  }
  await vi.waitFor(async () => expect(await readAll(topic)).toHaveLength(1400), { timeout: 90_000, interval: 2000 });
});

test('an admin client does not ask for the metadata before each of its requests', async () => {
  const topic = await topicOf('metadata');
  const admin = clients.admins.admin();
  await admin.connect();
  const asked: string[] = [];
  const stop = admin.on(admin.events.REQUEST, ({ payload }) => asked.push(payload.apiName));
  for (let i = 0; i < 20; i++) await admin.fetchTopicOffsets(topic);
  stop();
  await admin.disconnect();
  const count = (name: string) => asked.filter((each) => each === name).length;
  expect(count('ListOffsets')).toBe(40);
  expect(count('Metadata')).toBeLessThan(10);
});
