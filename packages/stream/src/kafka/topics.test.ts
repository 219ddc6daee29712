import { Topic } from '@vigil/events';
import { expect, test } from 'vitest';
import { Refused } from '../errors.ts';
import { compareTopics, type PresentTopic, planTopics } from './topics.ts';

const planned = planTopics({ partitions: 4 });
const of = (topic: string) => planned.find((one) => one.topic === topic)!;
const asPlanned = (): Map<string, PresentTopic> =>
  new Map(planned.map(({ topic, partitions, config }) => [topic, { partitions, config }]));

test('every topic of the catalogue is planned, with the partitions of its key space', () => {
  expect(planned.map(({ topic }) => topic).toSorted()).toEqual(Object.values(Topic).toSorted());
  expect([of(Topic.heartbeat).partitions, of(Topic.admitStep).partitions]).toEqual([4, 1]);
});

test('commands are stamped and recompressed by the broker, events keep the time they are written with', () => {
  expect(of(Topic.heartbeat).config).toMatchObject({
    'message.timestamp.type': 'LogAppendTime',
    'compression.type': 'zstd',
    'max.message.bytes': '524288',
    'retention.ms': '604800000',
  });
  expect(of(Topic.agentHealth).config).toMatchObject({ 'message.timestamp.type': 'CreateTime', 'retention.ms': '-1' });
  expect(of(Topic.dlqRecovery).config).toMatchObject({ 'retention.ms': '2592000000' });
});

test('snapshots are compacted, in small segments', () => {
  expect(of(Topic.snapshotRecovery).config).toMatchObject({
    'cleanup.policy': 'compact',
    'segment.bytes': '67108864',
    'min.cleanable.dirty.ratio': '0.2',
  });
});

test('what is as planned is left alone; what is missing is made, what differs is set', () => {
  const present = asPlanned();
  expect(compareTopics(planned, present)).toEqual([]);
  present.delete(Topic.heartbeat);
  present.set(Topic.policy, { partitions: 1, config: { ...of(Topic.policy).config, 'cleanup.policy': 'delete' } });
  expect(compareTopics(planned, present).map(({ change, planned: { topic } }) => [change, topic])).toEqual([
    ['create', Topic.heartbeat],
    ['configure', Topic.policy],
  ]);
});

test('another number of partitions is refused: keys would lie elsewhere', () => {
  const present = asPlanned();
  present.set(Topic.heartbeat, { ...of(Topic.heartbeat), partitions: 8 });
  expect(() => compareTopics(planned, present)).toThrow(Refused);
});
