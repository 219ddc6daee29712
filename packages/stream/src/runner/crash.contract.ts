import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Log } from '../log/log.ts';
import { partitionOf } from '../log/partitioner.ts';
import { listening } from './processors.fixture.ts';
import {
  aliased,
  expectGapless,
  type LogFactory,
  ownersOf,
  PARTITIONS,
  start,
  testBed,
  until,
} from './runner.fixture.ts';

/** The contract of the processor runner when processes die, hang and come back, in memory and on Kafka. */
export const crashContract = ({ log: open, topics }: LogFactory): void => {
  test('partitions whose writer another process fences are opened again, and nothing is lost or done twice', async () => {
    await using log = await open();
    const w = await testBed(log, await topics(PARTITIONS));
    await using running = await start(log, listening(w.run));
    await w.tick(0);
    for (let i = 1; i <= 5; i++) {
      await until(() => expect(running.ready()).toBe(true));
      for (const owner of await ownersOf(log, w.run, partitionOf('a', PARTITIONS)))
        await (await log.fence(owner)).close();
      await w.write(w.heartbeat('a', i));
      await until(() => expect(w.emitted()).toHaveLength(i));
    }
    expectGapless(w.emitted());
    w.stop();
  });

  test('a partition that takes long to open delays no other', async () => {
    await using log = await open();
    const w = await testBed(log, await topics(PARTITIONS));
    const slow = partitionOf('a', PARTITIONS);
    const opened = Promise.withResolvers<void>();
    const read: Log['read'] = async (topic, partition, ...rest) => {
      if (partition === slow) await opened.promise;
      await log.read(topic, partition, ...rest);
    };
    const other = ['b', 'c', 'd', 'e', 'f'].find((key) => partitionOf(key, PARTITIONS) !== slow) as string;
    await using running = await start({ ...aliased(log), read }, listening(w.run));
    await w.write(w.heartbeat('a', 1), w.heartbeat(other, 1));
    await until(() => expect(w.emitted().map(({ key }) => key)).toEqual([other]));
    expect(running.ready()).toBe(false);
    opened.resolve();
    await until(() => expect(w.emitted().map(({ key }) => key)).toEqual([other, 'a']));
    w.stop();
  });

  test.each(['before', 'after'] as const)(
    'a process that dies %s a commit, at any of them, loses and doubles nothing',
    async (when) => {
      await using log = await open();
      const w = await testBed(log, await topics(PARTITIONS));
      const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
      let fed = 0;
      await w.tick(0);
      for (let i = 1; i <= 6; i++) {
        await w.write(...keys.map((key) => w.heartbeat(key, i)));
        const running = await start(dying(log, when, i), listening(w.run));
        let isDead = false;
        const death = running.finished.catch((error: unknown) => {
          isDead = true;
          throw error;
        });
        const feeding = feed(w, () => isDead);
        await expect(death).rejects.toThrow('killed');
        fed += await feeding;
        await running.stop();
      }
      await using _last = await start(log, listening(w.run));
      await until(() => expect(w.emitted()).toHaveLength(6 * keys.length + fed));
      expectGapless(w.emitted());
      w.stop();
    },
  );

  test('a zombie that wakes up in the middle of a batch writes nothing, because its partitions belong to another', async () => {
    const { emitted, n } = await zombie(open, topics, (id) => id);
    expect(emitted).toHaveLength(n);
    expectGapless(emitted);
  });

  test('control: without the fence of the transactional id the zombie writes its batch twice', async () => {
    const { emitted, n } = await zombie(open, topics, (id) => `${id}-${Math.random()}`);
    expect(emitted.length).toBeGreaterThan(n);
    expect(() => expectGapless(emitted)).toThrow();
  });
};

/** Heartbeats of one more agent until `isOver`, so that there is always a next commit. Returns their number. */
const feed = async (w: Awaited<ReturnType<typeof testBed>>, isOver: () => boolean): Promise<number> => {
  let fed = 0;
  for (; !isOver(); fed++) {
    await w.write(w.heartbeat('fed', 1));
    await sleep(10);
  }
  return fed;
};

/** The log of a process that dies at its n-th commit, before it or after it was done. */
const dying = (log: Log, when: 'before' | 'after', n: number): Log => {
  let commits = 0;
  const fence: Log['fence'] = async (id) => {
    const transactor = await log.fence(id);
    const commit: typeof transactor.commit = async (records) => {
      commits += 1;
      if (commits === n && when === 'before') throw new Error('killed');
      await transactor.commit(records);
      if (commits >= n) throw new Error('killed');
    };
    return { ...transactor, commit };
  };
  return { ...aliased(log), fence };
};

/**
 * Two processes that both believe that they own everything: the first is blocked with its batches until the second has
 * processed them.
 */
const zombie = async (open: LogFactory['log'], topics: LogFactory['topics'], idOf: (id: string) => string) => {
  await using log = await open();
  const w = await testBed(log, await topics(PARTITIONS));
  const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
  const gate = Promise.withResolvers<void>();
  const batches = { full: 0, empty: 0 };
  const join: Log['join'] = (member) =>
    log.join({
      ...member,
      group: `${member.group}-zombie`,
      take: async (batch) => {
        batches.full += 1;
        await gate.promise;
        const taken = await member.take(batch);
        batches.empty += 1;
        return taken;
      },
    });
  const fence: Log['fence'] = (id) => log.fence(idOf(id));
  const first = await start({ ...aliased(log), join, fence }, listening(w.run));
  await until(() => expect(first.ready()).toBe(true));
  await w.write(...keys.map((key) => w.heartbeat(key, 1)));
  await until(() => expect(batches.full).toBeGreaterThan(0));
  const second = await start({ ...aliased(log), fence }, listening(w.run));
  await until(() => expect(w.emitted()).toHaveLength(keys.length));
  await second.stop();
  const pendingBatches = batches.full;
  gate.resolve();
  await until(() => expect(batches.empty).toBeGreaterThanOrEqual(pendingBatches));
  await first.stop();
  await w.write(w.heartbeat('end', 9));
  await using _third = await start(log, listening(w.run));
  await until(() => expect(w.emitted().filter(({ key }) => key === 'end')).toHaveLength(1));
  w.stop();
  return { emitted: w.emitted().filter(({ key }) => key !== 'end'), n: keys.length };
};
