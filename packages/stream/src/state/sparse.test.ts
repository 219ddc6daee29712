import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sparse } from './at-rest.ts';

const usual = { kind: 'known', count: 0, names: [], marks: [0, 0], inner: { at: 0, left: {}, last: null }, none: null };
const { write, read } = sparse(usual);
const kept = (value: unknown) => JSON.parse(write(value));

test('only the fields that differ from the usual value are stored', () => {
  expect(kept(usual)).toEqual({});
  expect(kept({ ...usual, count: 1, inner: { ...usual.inner, at: 5 } })).toEqual({ count: 1, inner: { at: 5 } });
  expect(kept({ ...usual, marks: [0, 1] })).toEqual({ marks: [0, 1] });
});

test('an object with other fields is stored whole, and no missing field is added', () => {
  expect(kept({ kind: 'unseen' })).toEqual([{ kind: 'unseen' }]);
  expect(read(write({ kind: 'unseen' }))).toEqual({ kind: 'unseen' });
  const mapped = { ...usual, inner: { ...usual.inner, left: { idle: 7 } } };
  expect(read(write(mapped))).toEqual(mapped);
});

test('names with a meaning in JavaScript are ordinary names', () => {
  const hostile = JSON.parse('{"__proto__": "x", "constructor": "y"}');
  const value = { ...usual, inner: { ...usual.inner, left: hostile } };
  expect(JSON.stringify(read(write(value)))).toBe(JSON.stringify(value));
});

test('each omitted field comes back', () => {
  const field = fc.oneof(fc.constantFrom(0, null, 'known', [], [0, 0], {}, usual.inner), fc.jsonValue());
  const inner = fc.record({ at: field, left: field, last: field }, { requiredKeys: [] });
  const value = fc.oneof(
    fc.jsonValue(),
    fc.record(
      { kind: field, count: field, names: field, marks: field, inner: fc.oneof(inner, field), none: field },
      { requiredKeys: ['kind', 'count'] },
    ),
  );
  const plain = (it: unknown) => JSON.parse(JSON.stringify(it));
  fc.assert(
    fc.property(value, (it) => {
      expect(read(write(it))).toEqual(plain(it));
    }),
    { numRuns: 2000 },
  );
});
