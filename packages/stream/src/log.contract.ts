import { expect, test, vi } from 'vitest';
import { Refused, Retry } from './errors.ts';
import type { Batch, Log, LogRecord, Member, Membership, OutRecord } from './log.ts';

/** A log to be checked. `topic` makes one; names are unique to a run. */
export type Subject = {
  readonly log: () => Log;
  readonly topic: (name: string, partitions: number) => Promise<string>;
};

const until = (holds: () => void) => vi.waitFor(holds, { timeout: 20_000, interval: 10 });

const out = (topic: string, key: string, rest: Partial<OutRecord> = {}): OutRecord => ({
  topic,
  partition: 0,
  key,
  value: Buffer.from(`value of ${key}`),
  ...rest,
});

const readAll = async (log: Log, topic: string, partition = 0): Promise<readonly LogRecord[]> => {
  const records: LogRecord[] = [];
  const range = (await log.bounds(topic))[partition]!;
  await log.read(topic, partition, range, (record) => records.push(record), new AbortController().signal);
  return records;
};
const keys = (records: readonly LogRecord[]) => records.map(({ key }) => key);

/** A member that takes what it is given and remembers it. */
const listen = async (log: Log, group: string, topics: readonly string[], rest: Partial<Member> = {}) => {
  const heard: LogRecord[] = [];
  let assigned: readonly number[] = [];
  const member: Member = {
    group,
    topics,
    paceMs: 10,
    held: () => assigned,
    assigned: (partitions) => {
      assigned = [...partitions].toSorted((a, b) => a - b);
    },
    beat: () => {},
    take: async ({ records }: Batch) => {
      heard.push(...records);
      return true;
    },
    skipped: () => {},
    lost: (error) => {
      throw error;
    },
    ...rest,
  };
  const membership = await log.join(member);
  return { heard, membership, assigned: () => assigned };
};

/** What a log promises, in memory and on Kafka. */
export const logContract = ({ log, topic }: Subject): void => {
  test('what is written is read back as it was, in order', async () => {
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

  test('a topic that is not there is refused, by name', async () => {
    await expect(log().partitionCount('vigil.not.there')).rejects.toThrow(Refused);
    await expect(log().partitionCount('vigil.not.there')).rejects.toThrow(/vigil\.not\.there/);
  });

  test('a read ends at the end it was given and begins at its beginning', async () => {
    const t = await topic('range', 1);
    await log().write(['a', 'b', 'c', 'd'].map((key) => out(t, key)));
    const records: LogRecord[] = [];
    await log().read(t, 0, { low: 1, high: 3 }, (record) => records.push(record), new AbortController().signal);
    expect(keys(records)).toEqual(['b', 'c']);
  });

  test('a commit makes all of it visible, back to back too', async () => {
    const [one, two] = [await topic('tx-one', 1), await topic('tx-two', 1)];
    const transactor = await log().fence(`${one}-0`);
    for (let i = 0; i < 10; i++) await transactor.commit([out(one, `a${i}`), out(two, `b${i}`)]);
    expect(keys(await readAll(log(), one))).toEqual(Array.from({ length: 10 }, (_, i) => `a${i}`));
    expect(await readAll(log(), two)).toHaveLength(10);
    await transactor.close();
  });

  test('whoever fences an id ends its holder: the commit throws Retry and nothing of it is seen; the new one commits', async () => {
    const t = await topic('fenced', 1);
    const first = await log().fence(`${t}-0`);
    await first.commit([out(t, 'before')]);
    const second = await log().fence(`${t}-0`);
    await expect(first.commit([out(t, 'zombie')])).rejects.toThrow(Retry);
    await second.commit([out(t, 'after')]);
    expect(keys(await readAll(log(), t))).toEqual(['before', 'after']);
    await Promise.all([first.close(), second.close()]);
  });

  test('ids of others are not fenced', async () => {
    const t = await topic('unfenced', 1);
    const first = await log().fence(`${t}-0`);
    await log().fence(`${t}-1`);
    await first.commit([out(t, 'a')]);
    expect(keys(await readAll(log(), t))).toEqual(['a']);
  });

  test('a member reads all partitions of all its topics; what is written later reaches it too', async () => {
    const [one, two] = [await topic('member-one', 2), await topic('member-two', 2)];
    await log().write([out(one, 'a'), out(two, 'b', { partition: 1 })]);
    const { heard, membership } = await listen(log(), `${one}-group`, [one, two]);
    await log().write([out(one, 'c', { partition: 1 })]);
    await until(() => expect(keys(heard).toSorted()).toEqual(['a', 'b', 'c']));
    await membership.stop();
  });

  test('a joining member takes over a share of the partition numbers, the same ones of all topics; a leaving one gives them back', async () => {
    const [one, two] = [await topic('share-one', 4), await topic('share-two', 4)];
    const first = await listen(log(), `${one}-group`, [one, two]);
    await until(() => expect(first.assigned()).toEqual([0, 1, 2, 3]));
    const second = await listen(log(), `${one}-group`, [one, two]);
    await until(() => {
      expect(first.assigned()).toHaveLength(2);
      expect([...first.assigned(), ...second.assigned()].toSorted()).toEqual([0, 1, 2, 3]);
    });
    await second.membership.stop();
    await until(() => expect(first.assigned()).toEqual([0, 1, 2, 3]));
    await first.membership.stop();
  });

  test('a partition that is sought continues there, and one that is paused waits until it is resumed', async () => {
    const t = await topic('sought', 2);
    await log().write(['a', 'b', 'c'].flatMap((key) => [out(t, `${key}0`), out(t, `${key}1`, { partition: 1 })]));
    const assigned = (partitions: ReadonlySet<number>, membership: Membership) => {
      membership.seek(t, 0, 2);
      if (partitions.has(1)) membership.pause(1);
    };
    const { heard, membership } = await listen(log(), `${t}-group`, [t], { assigned });
    await until(() => expect(keys(heard)).toEqual(['c0']));
    membership.seek(t, 1, 1);
    membership.resume(1);
    await until(() => expect(keys(heard)).toEqual(['c0', 'b1', 'c1']));
    await membership.stop();
  });

  test('what is not taken is offered again after a seek', async () => {
    const t = await topic('declined', 1);
    await log().write([out(t, 'a')]);
    let offers = 0;
    const take = async () => {
      offers += 1;
      return offers > 1;
    };
    const { membership } = await listen(log(), `${t}-group`, [t], { take });
    await until(() => expect(offers).toBe(1));
    membership.seek(t, 0, 0);
    await until(() => expect(offers).toBe(2));
    await membership.stop();
  });

  test('a member begins at the offsets its group has published', async () => {
    const t = await topic('published', 1);
    await log().write(['a', 'b', 'c'].map((key) => out(t, key)));
    const first = await listen(log(), `${t}-group`, [t]);
    await until(() => expect(first.heard).toHaveLength(3));
    await first.membership.publish([{ topic: t, partition: 0, offset: 2 }]);
    await first.membership.stop();
    const second = await listen(log(), `${t}-group`, [t]);
    await until(() => expect(keys(second.heard)).toEqual(['c']));
    await second.membership.stop();
  });

  test('a batch says where it was asked for, where it ends and where to go on; an unseen transaction is no part of it', async () => {
    const t = await topic('batch', 1);
    const transactor = await log().fence(`${t}-0`);
    await transactor.commit([out(t, 'a'), out(t, 'b')]);
    await transactor.commit([out(t, 'c')]);
    const batches: Batch[] = [];
    const take = async (batch: Batch) => {
      batches.push(batch);
      return true;
    };
    const { membership } = await listen(log(), `${t}-group`, [t], { take });
    await until(() => expect(batches.flatMap(({ records }) => keys(records))).toEqual(['a', 'b', 'c']));
    expect(batches[0]?.fetched).toBe(0);
    for (const { records, next, end } of batches) {
      expect(next).toBeGreaterThan(records.at(-1)!.offset);
      expect(end).toBeGreaterThanOrEqual(next);
    }
    await membership.stop();
  });

  test('a follower hears from the beginning, from a moment, or only what comes; none leaves a group behind', async () => {
    const t = await topic('followed', 2);
    const stop = new AbortController();
    await log().write([
      out(t, 'old', { timestamp: 1_795_305_600_000 }),
      out(t, 'new', { partition: 1, timestamp: 1_795_305_700_000 }),
    ]);
    const heard = { all: [] as LogRecord[], since: [] as LogRecord[], later: [] as LogRecord[] };
    await log().follow([t], 'beginning', (record) => heard.all.push(record), stop.signal);
    await log().follow([t], 1_795_305_650_000, (record) => heard.since.push(record), stop.signal);
    await log().follow([t], 'end', (record) => heard.later.push(record), stop.signal);
    await log().write([out(t, 'now', { timestamp: 1_795_305_800_000 })]);
    await until(() => {
      expect(keys(heard.all).toSorted()).toEqual(['new', 'now', 'old']);
      expect(keys(heard.since).toSorted()).toEqual(['new', 'now']);
      expect(keys(heard.later)).toEqual(['now']);
    });
    stop.abort();
  });

  test('an offset is that of the record, the bounds are those of the log', async () => {
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
