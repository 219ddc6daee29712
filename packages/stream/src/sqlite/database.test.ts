import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import { Refused } from '../errors.ts';
import type { OutRecord } from '../log/log.ts';
import type { Keep } from '../log/topics.ts';
import { LogFile } from './database.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'vigil-log-file-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const HOUR = 3_600_000;
const T = 1_795_305_600_000;
let made = 0;

/** A file with one topic of one partition. */
const opened = (keep: Keep) => {
  const topic = { topic: 't', partitions: 1, keep, keepMarksMs: HOUR };
  const file = new LogFile(path.join(dir, `${made++}.db`));
  file.createTopics([topic]);
  const write = (...records: readonly (readonly [key: string | null, at: number])[]) =>
    file.transaction(() =>
      file.append(
        records.map(([key, timestamp]): OutRecord => ({ topic: 't', partition: 0, key, value: null, timestamp })),
        T,
      ),
    );
  const offsets = () => file.read('t', 0, { low: 0, high: 1000 }, 1000).map(({ offset }) => offset);
  return { file, write, offsets, clean: (before: number) => file.clean(topic, before) };
};

test('records older than their topic keeps them are deleted, a younger one is not, and offsets continue', () => {
  const { file, write, offsets, clean } = opened(HOUR);
  write(['a', T], ['b', T + 1], ['c', T + 2]);
  clean(T + HOUR + 1);
  expect(offsets()).toEqual([1, 2]);
  expect(file.bounds('t')).toEqual([{ low: 1, high: 3 }]);
  write(['d', T + 3]);
  expect(offsets()).toEqual([1, 2, 3]);
});

test('the newest record stays, however old it is', () => {
  const { write, offsets, clean } = opened(HOUR);
  write(['a', T], ['b', T]);
  clean(T + 100 * HOUR);
  clean(T + 100 * HOUR);
  expect(offsets()).toEqual([1]);
});

test('of a compacted topic the newest record of each key stays, also over several cleanings', () => {
  const { write, offsets, clean } = opened('compact');
  write(['a', T], ['b', T], ['a', T], [null, T]);
  clean(T + HOUR);
  expect(offsets()).toEqual([1, 2, 3]);
  write(['c', T + HOUR]);
  clean(T + HOUR);
  expect(offsets()).toEqual([1, 2, 3, 4]);
  write(['b', T + HOUR], ['c', T + HOUR], ['d', T + 2 * HOUR]);
  clean(T + 2 * HOUR);
  expect(offsets()).toEqual([2, 3, 5, 6, 7]);
});

test('a compacted topic keeps every record that is too young', () => {
  const { write, offsets, clean } = opened('compact');
  write(['a', T], ['a', T + 1], ['a', T + 2]);
  clean(T + 1);
  expect(offsets()).toEqual([0, 1, 2]);
});

test.each(['forever', 7 * 24 * HOUR] as const)(
  'a topic that is kept %s loses old marks of time, and nothing else',
  (keep) => {
    const { file, write, offsets, clean } = opened(keep);
    write(['a', T], ['@tick/0', T], ['@policy', T], [null, T], ['@ingress/g', T + 1]);
    const withValue = { topic: 't', partition: 0, key: '@policy', value: Buffer.from('x'), timestamp: T };
    file.transaction(() => file.append([withValue], T));
    write(['@tick/0', T + 2], ['a', T + 3]);
    clean(T + HOUR);
    expect(offsets()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    clean(T + HOUR + 1);
    expect(offsets()).toEqual([0, 3, 4, 5, 6, 7]);
    clean(T + 2 * HOUR);
    expect(offsets()).toEqual([0, 3, 5, 7]);
  },
);

test('the newest record stays, even if it is a mark, and every event of a topic that is kept for ever stays', () => {
  const { file, write, offsets, clean } = opened('forever');
  write(['a', T], ['@tick/0', T], ['@tick/0', T]);
  clean(T + 1000 * HOUR);
  clean(T + 1000 * HOUR);
  expect(offsets()).toEqual([0, 2]);
  write(['b', T + 1000 * HOUR]);
  clean(T + 2000 * HOUR);
  expect(offsets()).toEqual([0, 3]);
  expect(file.bounds('t')).toEqual([{ low: 0, high: 4 }]);
});

test('another number of partitions is refused with both numbers, and what to do', () => {
  const { file } = opened('forever');
  const create = () => file.createTopics([{ topic: 't', partitions: 4, keep: 'forever', keepMarksMs: HOUR }]);
  expect(create).toThrow(Refused);
  expect(create).toThrow(/t has 1 partitions in .* and should have 4: set VIGIL_PARTITIONS to 1, or use another file/);
});

test('a file of a newer form is refused', () => {
  const { file } = opened('forever');
  file.close();
  const newer = new DatabaseSync(file.path);
  newer.exec('UPDATE log SET form = 2');
  newer.close();
  expect(() => new LogFile(file.path)).toThrow(/has form 2, and this version of Vigil reads form 1/);
});

test('a failed transaction leaves nothing behind', () => {
  const { file, write, offsets } = opened('forever');
  expect(() =>
    file.transaction(() => {
      file.append([{ topic: 't', partition: 0, key: 'a', value: null }], T);
      throw new Error('no');
    }),
  ).toThrow('no');
  expect(offsets()).toEqual([]);
  write(['b', T]);
  expect(offsets()).toEqual([0]);
});
