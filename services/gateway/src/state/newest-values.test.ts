import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createNewestValues, type RecordPlace } from './newest-values.ts';

type Read = { readonly key: string; readonly value: number | null; readonly place: RecordPlace };

/** Records of eight keys in two partitions. The clocks of their writers differ by up to 3 ms. */
const logs = fc
  .array(fc.record({ key: fc.nat(7), value: fc.option(fc.nat(3), { freq: 2 }), skew: fc.nat(3) }), {
    maxLength: 60,
    size: 'max',
  })
  .map((written) => {
    const ends = [0, 0];
    return written.map(({ key, value, skew }, timestamp): Read => {
      const partition = key % 2;
      const offset = ends[partition] ?? 0;
      ends[partition] = offset + 1;
      return { key: `k-${key}`, value, place: { partition, offset, timestamp: timestamp + skew } };
    });
  });

/** The order in which a restarted instance reads: partitions backwards by chunks, each chunk forwards; some records twice. */
const readings = fc
  .record({ records: logs, chunk: fc.integer({ min: 1, max: 10 }), isLiveFirst: fc.boolean() })
  .map(({ records, chunk, isLiveFirst }): readonly Read[] => {
    const backwards = [0, 1].flatMap((partition) => {
      const own = records.filter(({ place }) => place.partition === partition);
      const chunks = Array.from({ length: Math.ceil(own.length / chunk) }, (_, n) => {
        const end = own.length - n * chunk;
        return own.slice(Math.max(0, end - chunk), end);
      });
      return chunks.flat();
    });
    return isLiveFirst ? [...records.slice(-5), ...backwards] : [...backwards, ...records.slice(-5)];
  });

const newestOf = (records: readonly Read[], key: string): number | null =>
  records.filter((one) => one.key === key).toSorted((a, b) => b.place.offset - a.place.offset)[0]?.value ?? null;
const keys = Array.from({ length: 8 }, (_, n) => `k-${n}`);

test('with room for all keys each has its newest value, in any order of reading', () => {
  fc.assert(
    fc.property(readings, (read) => {
      const newest = createNewestValues<number>(8);
      for (const { key, value, place } of read) newest.observe(key, value, place);
      expect(keys.map((key) => newest.find(key))).toEqual(keys.map((key) => newestOf(read, key)));
    }),
  );
});

test('without room for all keys a key has its newest value or none, and never one that is over', () => {
  fc.assert(
    fc.property(readings, fc.integer({ min: 1, max: 6 }), (read, most) => {
      const newest = createNewestValues<number>(most);
      for (const { key, value, place } of read) newest.observe(key, value, place);
      for (const key of keys) expect([null, newestOf(read, key)]).toContain(newest.find(key));
      const { values, settled } = newest.size();
      expect(values).toBeLessThanOrEqual(most);
      expect(settled).toBeLessThanOrEqual(most);
    }),
  );
});

test('a value that is replaced or forgotten is returned once, so that others can forget it as well', () => {
  fc.assert(
    fc.property(readings, fc.integer({ min: 1, max: 8 }), (read, most) => {
      const newest = createNewestValues<number>(most);
      const held = new Map<string, number>();
      for (const { key, value, place } of read) {
        for (const over of newest.observe(key, value, place)) {
          expect(held.get(over.key)).toBe(over.value);
          held.delete(over.key);
        }
        const now = newest.find(key);
        if (now !== null) held.set(key, now);
      }
      expect(held).toEqual(
        new Map(keys.flatMap((key) => (newest.find(key) === null ? [] : [[key, newest.find(key)]]))),
      );
    }),
  );
});

test('a restarted instance keeps the values that were written last', () => {
  const newest = createNewestValues<number>(2);
  for (const offset of [4, 5, 2, 3, 0, 1])
    newest.observe(`k-${offset}`, offset, { partition: 0, offset, timestamp: offset });
  expect(keys.filter((key) => newest.find(key) !== null)).toEqual(['k-4', 'k-5']);
});
