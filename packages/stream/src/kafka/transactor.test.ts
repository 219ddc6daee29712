import { expect, test } from 'vitest';
import type { OutRecord } from '../log/log.ts';
import { notAhead } from './transactor.ts';

const record = (timestamp?: number): OutRecord => ({
  topic: 't',
  partition: 0,
  key: 'a',
  value: null,
  ...(timestamp === undefined ? {} : { timestamp }),
});

test('a record is stamped at most half an hour ahead of its writer’s clock, because a broker refuses stamps that are further ahead', () => {
  const half = 1_800_000;
  const given = [record(), record(5000), record(1000 + half), record(1000 + half + 1)];
  expect(notAhead(given, 1000)).toEqual([record(), record(5000), record(1000 + half), record(1000 + half)]);
});
