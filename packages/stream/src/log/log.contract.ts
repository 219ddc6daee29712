import { expect, test } from 'vitest';
import { Refused, Retry } from '../errors.ts';
import { keys, out, readAll, type Subject, until } from './log.fixture.ts';
import type { LogRecord } from './log.ts';

/** The contract of a log for records, transactions and followers, in memory, in a file and on Kafka. */
export const logContract = ({ log, topic }: Subject): void => {
  test('records are read back as they were written, in order', async () => {
    const t = await topic('written', 2);
    await log().write([
      out(t, 'a', { timestamp: 1_795_305_600_123, headers: { traceparent: '00-1' } }),
      out(t, 'b', { partition: 1 }),
    ]);
    await log().write([out(t, 'c', { value: null }), out(t, 'd', { key: null })]);
    const records = await readAll(log(), t);
    expect(keys(records)).toEqual(['a', 'c', null]);
    expect(records[0]).toMatchObject({
      topic: t,
      partition: 0,
      timestamp: 1_795_305_600_123,
      headers: { traceparent: '00-1' },
    });
    expect(records[0]?.value?.toString()).toBe('value of a');
    expect(records[1]?.value).toBeNull();
    expect(keys(await readAll(log(), t, 1))).toEqual(['b']);
  });

  test('a record that cannot be written fails its own writer only, and later ones of its partition are written', async () => {
    const t = await topic('lanes', 2);
    const [first, second] = [log().write([out(t, 'a')]), log().write([out(t, 'b', { partition: 1 })])];
    const nowhere = log().write([out(t, 'lost', { partition: 7 })]);
    await Promise.all([first, second, expect(nowhere).rejects.toThrow()]);
    await log().write([out(t, 'c'), out(t, 'd', { partition: 1 })]);
    expect(new Set(keys(await readAll(log(), t)))).toEqual(new Set(['a', 'c']));
    expect(new Set(keys(await readAll(log(), t, 1)))).toEqual(new Set(['b', 'd']));
  });

  test('a topic that does not exist is refused, by name', async () => {
    await expect(log().partitionCount('vigil.not.there')).rejects.toThrow(Refused);
    await expect(log().partitionCount('vigil.not.there')).rejects.toThrow(/vigil\.not\.there/);
  });

  test('a read begins and ends at the given offsets', async () => {
    const t = await topic('range', 1);
    await log().write(['a', 'b', 'c', 'd'].map((key) => out(t, key)));
    const records: LogRecord[] = [];
    await log().read(t, 0, { low: 1, high: 3 }, (record) => records.push(record), new AbortController().signal);
    expect(keys(records)).toEqual(['b', 'c']);
  });

  test('several ranges are read at once, each partition in order, and an empty range is skipped', async () => {
    const [one, two] = [await topic('ranges-one', 2), await topic('ranges-two', 1)];
    await log().write([...['a', 'b', 'c'].map((key) => out(one, key)), out(one, 'other', { partition: 1 })]);
    await log().write(['d', 'e'].map((key) => out(two, key)));
    const records: LogRecord[] = [];
    const ranges = [
      { topic: one, partition: 0, low: 1, high: 3 },
      { topic: one, partition: 1, low: 1, high: 1 },
      { topic: two, partition: 0, low: 0, high: 2 },
    ];
    await log().readRanges(ranges, (record) => records.push(record), new AbortController().signal);
    expect(keys(records.filter((record) => record.topic === one))).toEqual(['b', 'c']);
    expect(keys(records.filter((record) => record.topic === two))).toEqual(['d', 'e']);
  });

  test('a commit makes all records of its transaction visible, also for back-to-back transactions', async () => {
    const [one, two] = [await topic('tx-one', 1), await topic('tx-two', 1)];
    const transactor = await log().fence(`${one}-0`);
    for (let i = 0; i < 10; i++) await transactor.commit([out(one, `a${i}`), out(two, `b${i}`)]);
    expect(keys(await readAll(log(), one))).toEqual(Array.from({ length: 10 }, (_, i) => `a${i}`));
    expect(await readAll(log(), two)).toHaveLength(10);
    await transactor.close();
  });

  test('fencing an id ends its previous transactor: its commit throws Retry and none of its records is visible; the new transactor commits', async () => {
    const t = await topic('fenced', 1);
    const first = await log().fence(`${t}-0`);
    await first.commit([out(t, 'before')]);
    const second = await log().fence(`${t}-0`);
    await expect(first.commit([out(t, 'zombie')])).rejects.toThrow(Retry);
    await second.commit([out(t, 'after')]);
    expect(keys(await readAll(log(), t))).toEqual(['before', 'after']);
    await Promise.all([first.close(), second.close()]);
  });

  test('a fence does not affect other ids', async () => {
    const t = await topic('unfenced', 1);
    const first = await log().fence(`${t}-0`);
    await log().fence(`${t}-1`);
    await first.commit([out(t, 'a')]);
    expect(keys(await readAll(log(), t))).toEqual(['a']);
  });

  test('a follower reads from the beginning, from a moment, or only new records; it leaves no group behind', async () => {
    const t = await topic('followed', 2);
    const stop = new AbortController();
    await log().write([
      out(t, 'old', { timestamp: 1_795_305_600_000 }),
      out(t, 'new', { partition: 1, timestamp: 1_795_305_700_000 }),
    ]);
    const received = { all: [] as LogRecord[], since: [] as LogRecord[], later: [] as LogRecord[] };
    await log().follow([t], 'beginning', (record) => received.all.push(record), stop.signal);
    await log().follow([t], 1_795_305_650_000, (record) => received.since.push(record), stop.signal);
    await log().follow([t], 'end', (record) => received.later.push(record), stop.signal);
    await log().write([out(t, 'now', { timestamp: 1_795_305_800_000 })]);
    await until(() => {
      expect(keys(received.all).toSorted()).toEqual(['new', 'now', 'old']);
      expect(keys(received.since).toSorted()).toEqual(['new', 'now']);
      expect(keys(received.later)).toEqual(['now']);
    });
    stop.abort();
  });

  test('offsets are those of the records, and bounds are those of the log', async () => {
    const t = await topic('bounds', 2);
    expect(await log().bounds(t)).toEqual([
      { low: 0, high: 0 },
      { low: 0, high: 0 },
    ]);
    await log().write([out(t, 'a'), out(t, 'b'), out(t, 'c', { partition: 1 })]);
    expect(await log().bounds(t)).toEqual([
      { low: 0, high: 2 },
      { low: 0, high: 1 },
    ]);
    expect((await readAll(log(), t)).map(({ offset }) => offset)).toEqual([0, 1]);
  });
};
