import { expect, test } from 'vitest';
import { leftOutLine, needingKafka } from './means.ts';

test('without Kafka, each file of tests on servers is left out by name, except those that run on both logs or need only Postgres', () => {
  const all = needingKafka([]);
  expect(all).toContain('packages/stream/src/kafka/log.it.test.ts');
  expect(all).toContain('test/crash/broker.it.test.ts');
  expect(all.filter((file) => file.startsWith('test/walkthrough') || !file.endsWith('.it.test.ts'))).toEqual([]);
  expect(leftOutLine(all)).toContain(`left out ${all.length} files that need Kafka`);
  expect(leftOutLine(all)).toContain('\n  test/crash/broker.it.test.ts');
});

test('only files below the given paths count', () => {
  expect(needingKafka(['test/crash']).every((file) => file.startsWith('test/crash/'))).toBe(true);
  expect(leftOutLine(needingKafka(['test/walkthrough']))).toBeNull();
  expect(leftOutLine(needingKafka(['packages/read-model', 'packages/projection']))).toBeNull();
});
