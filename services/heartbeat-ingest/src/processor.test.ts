import { type Heartbeat, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { partitionOf, type RunningProcessor, runProcessor } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { quiet } from '@vigil/stream/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createIngest } from './processor.ts';

const ingest = createIngest(null);

let log: MemoryLog;
let running: RunningProcessor;

beforeEach(async () => {
  log = new MemoryLog({ partitions: 2 });
  running = await runProcessor(log, ingest, { ...quiet, partitions: 2 });
});
afterEach(async () => {
  await running.stop();
  await log[Symbol.asyncDispose]();
});

const heartbeat = (overrides: Partial<Heartbeat> = {}) =>
  example(Topic.heartbeat, 'HEARTBEAT', { verified: null, ...overrides });
const sendJson = (payload: Heartbeat, key = payload.agent_id) =>
  log.publishRaw(Topic.heartbeat, key, Buffer.from(JSON.stringify(payload)));
const deadLetters = () => log.events(Topic.dlqHeartbeatIngest) as readonly { payload: { failure_reason: string } }[];

test('heartbeats, in JSON or Avro, and control commands become one order of observations', async () => {
  await log.publish(heartbeat({ sequence: 1 }));
  sendJson(heartbeat({ sequence: 2 }).payload);
  await log.settled();
  await log.publish(example(Topic.controlAgent, 'AGENT_EXITED'));
  await log.settled();
  const seen = log.events(Topic.agentObservation);
  expect(seen.map(({ type }) => type)).toEqual(['AGENT_HEARTBEAT', 'AGENT_HEARTBEAT', 'AGENT_EXITED']);
  expect(seen.map(({ payload }) => ('sequence' in payload ? payload.sequence : null))).toEqual([1, 2, null]);
  expect(log.events(Topic.taskCheckpoint)).toHaveLength(1);
});

test('a checkpoint is recorded once for its id and time, and again with its validity', async () => {
  const { checkpoint } = heartbeat().payload;
  const reports = async (...checkpoints: readonly Partial<NonNullable<typeof checkpoint>>[]) => {
    for (const one of checkpoints) sendJson(heartbeat({ checkpoint: checkpoint && { ...checkpoint, ...one } }).payload);
    await log.settled();
    const recorded = log.events(Topic.taskCheckpoint) as readonly { payload: { checkpoint: object } }[];
    return recorded.map(({ payload }) => payload.checkpoint);
  };
  const [unread, valid] = [{ valid: null }, { valid: true }];
  const [first, later] = [{ created_at: 1000 }, { created_at: 1001 }];
  expect(await reports(...[unread, unread, valid, unread, valid].map((one) => ({ ...one, ...first })))).toMatchObject([
    { createdAt: 1000, valid: null },
    { createdAt: 1000, valid: true },
  ]);
  const all = await reports({ ...unread, ...later }, { ...unread, ...first }, { ...unread, ...later });
  expect(all.slice(2)).toMatchObject([{ createdAt: 1001, valid: null }]);
  const other = await reports(
    { checkpoint_id: 'other', ...unread, ...first },
    { remaining_work: ['tests'], ...unread, ...first },
  );
  expect(other.slice(3)).toMatchObject([{ checkpointId: 'other' }, { createdAt: 1000, remainingWork: ['tests'] }]);
});

test("an observation happened when the broker received its heartbeat, not by the agent's clock", async () => {
  sendJson(heartbeat({ timestamp: 0 }).payload);
  await log.settled();
  const [received] = log.records(Topic.heartbeat).filter(({ key }) => key === 'worker-1');
  expect(log.events(Topic.agentObservation)).toMatchObject([{ occurredAt: received?.timestamp }]);
});

test('what cannot be used is a dead letter with its reason, and what follows it flows on', async () => {
  log.publishRaw(Topic.heartbeat, 'worker-1', Buffer.from('I am fine'));
  sendJson(heartbeat({ agent_id: 'worker-2' }).payload, 'worker-1');
  log.publishRaw(Topic.heartbeat, 'worker-1', Buffer.from([0, 0, 0, 0x27, 0x0f, 1]));
  await log.publish({ ...example(Topic.controlAgent, 'HOLD_AGENT', { agentId: 'worker-2' }), key: 'worker-1' });
  sendJson(heartbeat().payload);
  await log.settled();
  expect(
    deadLetters()
      .map(({ payload }) => payload.failure_reason)
      .sort(),
  ).toEqual(['key_mismatch', 'key_mismatch', 'not_json', 'unknown_schema_id']);
  expect(log.events(Topic.agentObservation).map(({ type }) => type)).toEqual(['AGENT_HEARTBEAT']);
});

test('garbage stops nothing, however much of it there is: no sender can stop the service', async () => {
  for (let i = 0; i < 100; i++)
    log.publishRaw(Topic.heartbeat, 'worker-1', Buffer.from(i % 2 === 0 ? 'I am fine' : [0, 1]));
  sendJson(heartbeat().payload);
  await Promise.race([log.settled(), running.finished]);
  // The quota of a key: more only where a minute ends in between.
  expect(deadLetters().length).toBeGreaterThanOrEqual(60);
  expect(log.events(Topic.agentObservation)).toHaveLength(1);
});

test('ticks and the marks of ingresses are passed on in their place', async () => {
  log.append([0, 1].map((partition) => ({ topic: Topic.heartbeat, partition, key: '@ingress/gateway', value: null })));
  log.tick(Topic.heartbeat);
  await log.settled();
  const keys = log.records(Topic.agentObservation).map(({ key }) => key);
  expect(keys).toEqual(expect.arrayContaining(['@tick/0', '@tick/1', '@ingress/gateway']));
  expect(log.events(Topic.agentObservation)).toEqual([]);
});

test('heartbeats that were written to another partition are vouched for by the ticks of that one, from the first on', async () => {
  const { payload } = heartbeat({ ingress: null });
  const home = partitionOf(payload.agent_id, 2);
  const away = 1 - home;
  const value = Buffer.from(JSON.stringify(payload));
  const mark = `@ingress/partition:${away}`;
  const passed = () => log.partition(Topic.agentObservation, home).map(({ key }) => key);
  log.append([{ topic: Topic.heartbeat, partition: away, key: payload.agent_id, value }]);
  await log.settled();
  expect(log.events(Topic.agentObservation)).toMatchObject([{ payload: { ingress: `partition:${away}` } }]);
  expect(passed().filter((key) => !key?.startsWith('@tick'))).toEqual([mark, payload.agent_id]);
  log.append([{ topic: Topic.heartbeat, partition: home, key: `@tick/${home}`, value: null }]);
  await log.settled();
  const marks = passed().filter((key) => key === mark).length;
  log.append([{ topic: Topic.heartbeat, partition: away, key: `@tick/${away}`, value: null }]);
  await log.settled();
  expect(passed().filter((key) => key === mark).length).toBeGreaterThan(marks);
  expect(log.partition(Topic.agentObservation, away).map(({ key }) => key)).not.toContain(`@ingress/partition:${home}`);
});

test('a heartbeat that lies right, or that came through a gateway, keeps its way in', async () => {
  sendJson(heartbeat({ ingress: null }).payload);
  sendJson(heartbeat({ ingress: 'gateway:a' }).payload);
  await log.settled();
  const ingresses = log.events(Topic.agentObservation).map(({ payload }) => (payload as Heartbeat).ingress);
  expect(ingresses).toEqual([null, 'gateway:a']);
});
