import fc from 'fast-check';
import { expect, test } from 'vitest';
import { argsHash, hashes, maskedResultHash, NORMALISER, normalise, resultHash } from './hashes.ts';

test('the order of fields, and fields without a value, make no difference', () => {
  expect(argsHash({ a: 1, b: [true, null] })).toBe(argsHash({ b: [true, null], c: undefined, a: 1 }));
  expect(argsHash([1, 2])).not.toBe(argsHash([2, 1]));
  expect(argsHash('1')).not.toBe(argsHash(1));
});

test('other versions and machines compute these hashes of the same values', () => {
  expect(hashes({ args: { path: 'a.ts' }, result: 'read 12 lines' })).toEqual({
    args_hash: 'a1:26da85158febffab6d2ff298a631b624',
    result_hash: 'r1:e91e5e281c2c8469122b90af754e3e77',
    masked_result_hash: 'm1:171fb985beba1b23acd8641336a3f362',
  });
});

test('every hash names the version that made it', () => {
  for (const hash of Object.values(hashes({ args: 1, result: 2 }))) expect(hash?.slice(1)).toMatch(`${NORMALISER}:`);
});

test('masked, results that differ in numbers, long hex, UUIDs and volatile fields are the same; exactly, they are not', () => {
  const at = (n: number) => ({
    text: `took ${n} ms, commit ${`${n}abcdef9`.repeat(2)}, id 0${n}f3a1b2-0000-4000-8000-00000000000${n}`,
    'request-id': `request ${'x'.repeat(n)}`,
    duration_ms: n,
    left: n,
  });
  expect(maskedResultHash(at(3))).toBe(maskedResultHash(at(7)));
  expect(resultHash(at(3))).not.toBe(resultHash(at(7)));
  expect(normalise(at(3))).toBe('{"left":0,"text":"took # ms, commit #, id #"}');
});

test('masked, words remain: another file, another error, a short hex word are another result', () => {
  expect(maskedResultHash('no such file a.ts')).not.toBe(maskedResultHash('no such file b.ts'));
  expect(normalise('dead beef 1')).toBe('"dead beef #"');
});

test('a missing value, or one above the limits, is unknown and never compared', () => {
  const unknown = { args_hash: null, result_hash: null, masked_result_hash: null };
  expect(hashes({})).toEqual(unknown);
  expect(hashes({ args: 'x'.repeat(2 << 20), result: Array.from({ length: 60_000 }, () => 1) })).toEqual({
    ...unknown,
  });
  expect(resultHash('x'.repeat(1 << 20))).not.toBeNull();
  expect(resultHash(null)).not.toBeNull();
});

test('cycles, bytes, errors, dates, maps and unreadable fields have a hash too', () => {
  const circle: Record<string, unknown> = { a: 1 };
  circle.self = circle;
  expect(normalise(circle)).toBe('{"a":0,"self":"[circular]"}');
  const shared = { x: 'y' };
  expect(normalise([shared, shared])).toBe('[{"x":"y"},{"x":"y"}]');
  expect(resultHash(new Error('boom'))).not.toBe(resultHash(new Error('bang')));
  expect(resultHash(Buffer.from('a'))).not.toBe(resultHash(Buffer.from('b')));
  expect(resultHash(new Map([['a', 1]]))).not.toBe(resultHash(new Map([['a', 2]])));
  expect(resultHash(new Date(5))).toBe(resultHash('1970-01-01T00:00:00.005Z'));
  expect(resultHash(12n)).toBe(resultHash(12));
  const thorny = Object.defineProperty({}, 'x', {
    enumerable: true,
    get: () => {
      throw new Error('no');
    },
  });
  expect(normalise(thorny)).toBe('{"x":"[unreadable]"}');
  let deep: unknown = 1;
  for (let n = 0; n < 100_000; n += 1) deep = [deep];
  expect(resultHash(deep)).toBeNull();
});

test('hashing never throws, and gives the same hash again', () => {
  fc.assert(
    fc.property(
      fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withTypedArray: true }),
      (value) => {
        expect(hashes({ args: value, result: value })).toEqual(hashes({ args: value, result: value }));
      },
    ),
  );
});
