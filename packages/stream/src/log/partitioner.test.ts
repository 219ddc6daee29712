import { createRequire } from 'node:module';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { murmur2, partitionOf } from './partitioner.ts';

const theirs = createRequire(import.meta.url)('kafkajs/src/producer/partitioners/default/murmur2.js') as (
  key: Buffer,
) => number;

test('the hash equals that of the client and of Kafka', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 40 }),
      (bytes) => murmur2(Buffer.from(bytes)) === theirs(Buffer.from(bytes)),
    ),
  );
  // Kafka's own test vectors (UtilsTest.testMurmur2)
  expect(murmur2(Buffer.from('21'))).toBe(-973932308);
  expect(murmur2(Buffer.from('foobar'))).toBe(-790332482);
  expect(murmur2(Buffer.from('a-little-bit-long-string'))).toBe(-985981536);
});

test('a partition is within the topic, also for a negative hash', () => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: 64 }), (key, count) => {
      const partition = partitionOf(key, count);
      return partition >= 0 && partition < count;
    }),
  );
});
