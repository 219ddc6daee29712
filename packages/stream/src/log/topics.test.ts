import { catalogue, Topic } from '@vigil/events';
import { expect, test } from 'vitest';
import { keepOf, partitionsOf } from './topics.ts';

const topicThat = (retention: string) => ({ ...catalogue[Topic.heartbeat], retention });

test('days and hours of the catalogue are milliseconds', () => {
  expect(keepOf(topicThat('7d'))).toBe(604_800_000);
  expect(keepOf(topicThat('1h'))).toBe(3_600_000);
});

test('every topic of the catalogue is kept for ever, compacted, or kept for a time', () => {
  for (const info of Object.values(catalogue)) {
    const keep = keepOf(info);
    expect(typeof keep === 'string' || keep >= 3_600_000, `${info.name} is kept ${info.retention}`).toBe(true);
  }
});

test('a topic with one partition has one, however many the others have', () => {
  expect(partitionsOf({ ...catalogue[Topic.heartbeat], partitions: 'one' }, 8)).toBe(1);
  expect(partitionsOf({ ...catalogue[Topic.heartbeat], partitions: 'many' }, 8)).toBe(8);
});
