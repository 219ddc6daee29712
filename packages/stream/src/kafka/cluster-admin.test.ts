import type { Kafka } from 'kafkajs';
import { expect, test } from 'vitest';
import { ClusterAdmin } from './cluster-admin.ts';

test('the offsets of a group come by partition, and null where its members have published none', async () => {
  const asked: object[] = [];
  const admin = {
    listTopics: async () => ['t'],
    fetchTopicMetadata: async () => ({ topics: [{ partitions: [{}, {}, {}] }] }),
    fetchOffsets: async (of: object) => {
      asked.push(of);
      const partitions = [
        { partition: 1, offset: '0' },
        { partition: 0, offset: '-1' },
      ];
      return [{ topic: 't', partitions }];
    },
  };
  const questions = new ClusterAdmin({ admin: () => admin } as unknown as Kafka);
  expect(await questions.groupOffsets('g', 't')).toEqual([null, 0, null]);
  expect(asked).toEqual([{ groupId: 'g', topics: ['t'] }]);
});
