import { expect, test } from 'vitest';
import { keys, listen, out, type Subject, until } from './log.fixture.ts';
import type { Batch, Membership } from './log.ts';

/** The contract of a log with the members of a group, in memory, in a file and on Kafka. */
export const groupContract = ({ log, topic }: Subject): void => {
  test('a member reads all partitions of all its topics, and records that are written later', async () => {
    const [one, two] = [await topic('member-one', 2), await topic('member-two', 2)];
    await log().write([out(one, 'a'), out(two, 'b', { partition: 1 })]);
    const { received, membership } = await listen(log(), `${one}-group`, [one, two]);
    await log().write([out(one, 'c', { partition: 1 })]);
    await until(() => expect(keys(received).toSorted()).toEqual(['a', 'b', 'c']));
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

  test('a partition continues at the offset of a seek, and a paused one waits until it is resumed', async () => {
    const t = await topic('sought', 2);
    await log().write(['a', 'b', 'c'].flatMap((key) => [out(t, `${key}0`), out(t, `${key}1`, { partition: 1 })]));
    const assigned = (partitions: ReadonlySet<number>, membership: Membership) => {
      membership.seek(t, 0, 2);
      if (partitions.has(1)) membership.pause(1);
    };
    const { received, membership } = await listen(log(), `${t}-group`, [t], { onAssigned: assigned });
    await until(() => expect(keys(received)).toEqual(['c0']));
    membership.seek(t, 1, 1);
    membership.resume(1);
    await until(() => expect(keys(received)).toEqual(['c0', 'b1', 'c1']));
    await membership.stop();
  });

  test('a declined batch is offered again after a seek', async () => {
    const t = await topic('declined', 1);
    await log().write([out(t, 'a')]);
    let offers = 0;
    const take = async () => {
      offers += 1;
      return offers > 1;
    };
    const { membership } = await listen(log(), `${t}-group`, [t], { take });
    await until(() => expect(offers).toBeGreaterThan(0));
    const before = offers;
    membership.seek(t, 0, 0);
    await until(() => expect(offers).toBeGreaterThan(before));
    await membership.stop();
  });

  test('a member begins at the published offsets of its group', async () => {
    const t = await topic('published', 1);
    await log().write(['a', 'b', 'c'].map((key) => out(t, key)));
    const first = await listen(log(), `${t}-group`, [t]);
    await until(() => expect(first.received).toHaveLength(3));
    expect(await log().groupOffsets(`${t}-group`, t)).toEqual([null]);
    await first.membership.publish([{ topic: t, partition: 0, offset: 2 }]);
    expect(await log().groupOffsets(`${t}-group`, t)).toEqual([2]);
    await first.membership.stop();
    const second = await listen(log(), `${t}-group`, [t]);
    await until(() => expect(keys(second.received)).toEqual(['c']));
    await second.membership.stop();
  });

  test('a batch has its fetch offset, its end and the next offset; it has no record of an uncommitted transaction', async () => {
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
};
