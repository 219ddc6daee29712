import { expect, test } from 'vitest';
import type { OutRecord } from '../log/log.ts';
import { chunked } from './records.ts';

const record = (rest: Partial<OutRecord>): OutRecord => ({ topic: 't', partition: 0, key: null, value: null, ...rest });
const sizes = (records: readonly OutRecord[]) => chunked(records).map(({ length }) => length);

test('records go in one send up to 400 KiB together, and in order in several above', () => {
  const half = record({ value: Buffer.alloc(200 * 1024 - 100) });
  expect(sizes([half, half])).toEqual([2]);
  expect(sizes([half, half, record({})])).toEqual([2, 1]);
  expect(sizes([])).toEqual([]);
});

test('keys and headers count by their bytes: a send of small values with large headers is cut too', () => {
  const large = record({ headers: { note: 'é'.repeat(110 * 1024) } });
  expect(sizes([large, large])).toEqual([1, 1]);
  const keyed = record({ key: 'é'.repeat(110 * 1024) });
  expect(sizes([keyed, keyed])).toEqual([1, 1]);
});

test('a record that is larger than a send goes alone', () => {
  expect(sizes([record({}), record({ value: Buffer.alloc(500 * 1024) }), record({})])).toEqual([1, 1, 1]);
});
