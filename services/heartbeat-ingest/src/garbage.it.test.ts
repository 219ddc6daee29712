import { randomBytes } from 'node:crypto';
import { kafkaIn, readConfig } from '@vigil/chassis';
import { connectCodec, type DeadLetter, registerSchemas, registryFrom, Topic, topicNames } from '@vigil/events';
import { example } from '@vigil/events/examples';
import {
  applyTopics,
  connectLog,
  kafkaFrom,
  type Log,
  type LogRecord,
  partitionOf,
  runProcessor,
  silentLogger,
  writer,
} from '@vigil/stream';
import { quiet } from '@vigil/stream/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { config } from './config.ts';
import { createIngest } from './processor.ts';

const ingest = createIngest(null);

const RUN = randomBytes(4).toString('hex');
const agent = `garbage-${RUN}`;
const settings = kafkaIn(readConfig(config, process.env));
const { VIGIL_PARTITIONS: partitions } = settings;
const opened = new AsyncDisposableStack();
const over = new AbortController();
const received: LogRecord[] = [];
const changed = new EventTarget();
let log: Log;

/** The first answer of `look` that is one, asked again at every record. */
const until = async <T>(look: () => T | undefined): Promise<T> => {
  for (;;) {
    const seen = look();
    if (seen !== undefined) return seen;
    await new Promise((resolve) => changed.addEventListener('record', resolve, { once: true }));
  }
};

beforeAll(async () => {
  await applyTopics({ kafka: kafkaFrom(settings), partitions, replicas: 1 });
  await registerSchemas(registryFrom(settings));
  const codec = await connectCodec(registryFrom(settings), topicNames);
  log = opened.use(
    await connectLog({ kafka: kafkaFrom(settings), clientId: `test-${RUN}`, codec, logger: silentLogger }),
  );
  const onRecord = (record: LogRecord) => {
    received.push(record);
    changed.dispatchEvent(new Event('record'));
  };
  await log.follow([Topic.agentObservation, Topic.dlqHeartbeatIngest], 'end', onRecord, over.signal);
  opened.use(await runProcessor(log, ingest, { ...quiet, partitions }));
});

afterAll(async () => {
  over.abort();
  await opened.disposeAsync();
});

const heartbeat = (overrides = {}) =>
  example(Topic.heartbeat, 'HEARTBEAT', { agent_id: agent, verified: null, ...overrides }).payload;
const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const observed = (sequence: number) => () =>
  received
    .filter(({ topic, key, value }) => topic === Topic.agentObservation && key === agent && value !== null)
    .map(({ value }) => log.codec.decode(Topic.agentObservation, value as Buffer).payload as { sequence: number })
    .find((payload) => payload.sequence === sequence);
const reasons = () =>
  received
    .filter(({ topic, key }) => topic === Topic.dlqHeartbeatIngest && key === agent)
    .map(
      ({ value }) => (log.codec.decode(Topic.dlqHeartbeatIngest, value as Buffer).payload as DeadLetter).failure_reason,
    );

test('garbage of each kind becomes a dead letter with its reason, and the partition flows on', async () => {
  const { agent_id: _, ...nameless } = heartbeat();
  const garbage: [string, Buffer][] = [
    ['not_json', Buffer.from('I am fine')],
    ['invalid_utf8', Buffer.from([0x7b, 0xc3, 0x28, 0x7d])],
    ['not_avro', Buffer.from([0, 1])],
    ['unknown_schema_id', Buffer.from([0, 0x7f, 0xff, 0xff, 0xfe, 1, 2, 3])],
    ['wrong_topic', log.codec.encode(example(Topic.controlAgent, 'HOLD_AGENT'))],
    ['missing_field:agent_id', json(nameless)],
    ['bad_id', json(heartbeat({ task_id: "'; DROP TABLE agents; --" }))],
    ['bad_field', json(heartbeat({ token_count: -1 }))],
    ['key_mismatch', json(heartbeat({ agent_id: `${agent}-other` }))],
  ];
  const { writeRaw } = writer(log, Date.now);
  for (const [, value] of garbage) await writeRaw(Topic.heartbeat, agent, value);
  await writeRaw(Topic.heartbeat, agent, json(heartbeat({ sequence: 1 })));
  await until(observed(1));
  const expected = garbage.map(([reason]) => reason);
  await until(() => (reasons().length >= expected.length ? true : undefined));
  expect(reasons()).toEqual(expected);
});

test('a heartbeat in the wrong partition is observed in the right one', async () => {
  const right = partitionOf(agent, partitions);
  const value = json(heartbeat({ sequence: 2 }));
  await log.write([{ topic: Topic.heartbeat, partition: (right + 1) % partitions, key: agent, value }]);
  await until(observed(2));
  const places = received.filter(({ topic, key }) => topic === Topic.agentObservation && key === agent);
  expect(new Set(places.map(({ partition }) => partition))).toEqual(new Set([right]));
});
