import { Topic, type TopicName } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { expect, test } from 'vitest';
import { answerOf, least, testGateway } from './testing.ts';

const { log, post } = testGateway();

/** The next write of more than marks is taken by the log, and its answer is lost. */
const loseAnAnswer = () => {
  const { write } = log();
  const once: typeof write = async (records) => {
    const stampedAt = await write.call(log(), records);
    if (records.every(({ key }) => key?.startsWith('@'))) return stampedAt;
    Object.assign(log(), { write });
    throw new Error('no answer');
  };
  Object.assign(log(), { write: once });
};

const twice = async (path: string, body: unknown) => {
  loseAnAnswer();
  const statuses = [(await post(path, body)).status, (await answerOf(await post(path, body))).status];
  expect(statuses).toEqual([503, 202]);
};

test('a heartbeat that was written although its sender was answered 503 is the same when it is repeated: its sequence counts once', async () => {
  const heartbeat = { ...least, instance_id: 'worker-1.i1', sequence: 7 };
  await twice('/v1/heartbeats', heartbeat);
  const written = log().events(Topic.heartbeat);
  expect(written).toHaveLength(2);
  const [first, second] = written.map(({ key, payload }) => ({ key, payload }));
  expect(second).toEqual(first);
  expect(first).toMatchObject({ key: 'worker-1', payload: { sequence: 7 } });
});

const receipts: readonly (readonly [TopicName, string])[] = [
  [Topic.orderReceipt, 'ORDER_RECEIPT'],
  [Topic.spawnReceipt, 'SPAWN_RECEIPT'],
  [Topic.controlAgent, 'AGENT_EXITED'],
  [Topic.controlAgent, 'TERMINAL_USED'],
];

test.each(receipts)('so does what a runtime reports, under the id of the first: %s %s', async (topic, type) => {
  const { payload } = example(topic, type as never) as { payload: object };
  await twice('/v1/receipts', { type, payload });
  const [first, second, ...others] = log().events(topic) as unknown as { eventId: string; payload: object }[];
  expect(others).toEqual([]);
  expect(second?.payload).toEqual(first?.payload);
  expect(second?.eventId).toBe(first?.eventId);
});

test('a repeated announcement of a runtime is the same: only the newest counts', async () => {
  const { payload } = example(Topic.runtimePresence, 'RUNTIME_ANNOUNCED');
  await twice('/v1/receipts', { type: 'RUNTIME_ANNOUNCED', payload });
  const [first, second, ...others] = log().events(Topic.runtimePresence);
  expect([second?.payload, others]).toEqual([first?.payload, []]);
});
