import type { Kafka } from 'kafkajs';
import { afterEach, expect, test, vi } from 'vitest';

import { ClusterAdmin } from './cluster-admin.ts';

afterEach(() => void vi.useRealTimers());

test('the offsets of a group are listed by partition, with null where its members have published no offset', async () => {
  const requests: object[] = [];
  const admin = {
    listTopics: async () => ['t'],
    fetchTopicMetadata: async () => ({ topics: [{ partitions: [{}, {}, {}] }] }),
    fetchOffsets: async (of: object) => {
      requests.push(of);
      const partitions = [
        { partition: 1, offset: '0' },
        { partition: 0, offset: '-1' },
      ];
      return [{ topic: 't', partitions }];
    },
  };
  const questions = new ClusterAdmin({ admin: () => admin } as unknown as Kafka);
  expect(await questions.groupOffsets('g', 't')).toEqual([null, 0, null]);
  expect(requests).toEqual([{ groupId: 'g', topics: ['t'] }]);
});

test('the offsets of a group are asked for again while its coordinator loads', async () => {
  vi.useFakeTimers();
  const refusals = ['GROUP_LOAD_IN_PROGRESS', 'NOT_COORDINATOR_FOR_GROUP'];
  const admin = {
    listTopics: async () => ['t'],
    fetchTopicMetadata: async () => ({ topics: [{ partitions: [{}] }] }),
    fetchOffsets: async () => {
      const type = refusals.shift();
      if (type !== undefined) throw Object.assign(new Error(type), { type });
      return [{ topic: 't', partitions: [{ partition: 0, offset: '7' }] }];
    },
  };
  const offsets = new ClusterAdmin({ admin: () => admin } as unknown as Kafka).groupOffsets('g', 't');
  await vi.advanceTimersByTimeAsync(2000);
  expect(await offsets).toEqual([7]);
});

/** A cluster whose first `behind` answers come from a broker that does not have the topic yet. */
const learning = (behind: number) => {
  let answers = 0;
  const admin = {
    listTopics: async () => (answers++ < behind ? [] : ['t']),
    fetchTopicMetadata: async () => ({ topics: [{ partitions: [{}, {}] }] }),
  };
  return new ClusterAdmin({ admin: () => admin } as unknown as Kafka);
};

test('the query for a topic that some brokers do not have yet is retried', async () => {
  vi.useFakeTimers();
  const count = learning(4).partitionCount('t');
  await vi.advanceTimersByTimeAsync(2000);
  expect(await count).toBe(2);
});

test('a topic that is still missing at the fifth try is refused, by name', async () => {
  vi.useFakeTimers();
  const count = learning(5)
    .partitionCount('t')
    .catch((error: Error) => error);
  await vi.advanceTimersByTimeAsync(2000);
  expect(await count).toMatchObject({ name: 'Refused', message: expect.stringContaining('no topic t') });
});

test('a broker that has gone is named as such, and not by what the client lacks then', async () => {
  const describeCluster = async () => {
    const { brokers } = null as unknown as { readonly brokers: string };
    return { clusterId: brokers };
  };
  const admin = new ClusterAdmin({ admin: () => ({ describeCluster }) } as unknown as Kafka);
  await expect(admin.clusterId()).rejects.toThrow('no broker answers');
});
