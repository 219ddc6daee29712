import { expect, test } from 'vitest';
import type { Log } from '../log/log.ts';
import { jsonCodec } from '../runner/processors.fixture.ts';
import { aliased } from '../runner/runner.fixture.ts';
import { MemoryLog } from '../testing/memory/memory-log.ts';
import { type Move, movePosition } from './move-position.ts';

const SNAPSHOT = 'onex.snapshot.counting.state.v1';
const opened = async () => {
  const log = new MemoryLog({ topics: { input: 2, [SNAPSHOT]: 2 }, codec: jsonCodec() });
  const records = Array.from({ length: 5 }, (_, n) => ({
    topic: 'input',
    partition: 1,
    key: 'a',
    value: Buffer.from(String(n)),
  }));
  await log.write(records);
  const value = Buffer.from(JSON.stringify({ next: 2, clock: { now: 7 } }));
  await log.write([{ topic: SNAPSHOT, partition: 1, key: '@position/input', value }]);
  return log;
};
const move = (rest: Partial<Move>): Move => ({
  processor: 'counting',
  topic: 'input',
  partition: 1,
  to: 'end',
  ...rest,
});

const positions = async (log: Log) => {
  const range = (await log.bounds(SNAPSHOT))[1] as { low: number; high: number };
  const found: unknown[] = [];
  await log.read(
    SNAPSHOT,
    1,
    range,
    ({ key, value }) => key === '@position/input' && found.push(JSON.parse(String(value))),
    new AbortController().signal,
  );
  return found;
};

test('a position moves to the end, to the beginning or to an offset, and the clock stays', async () => {
  const log = await opened();
  expect(await movePosition(log, move({}))).toEqual({ from: 2, to: 5 });
  expect(await movePosition(log, move({ to: 'beginning' }))).toEqual({ from: 5, to: 0 });
  expect(await movePosition(log, move({ to: 3 }))).toEqual({ from: 0, to: 3 });
  expect((await positions(log)).at(-1)).toEqual({ next: 3, clock: { now: 7 } });
});

test('an offset outside the topic is refused with the numbers, and nothing moves', async () => {
  const log = await opened();
  await expect(movePosition(log, move({ to: 6 }))).rejects.toThrow('6 is outside input/1, which reaches from 0 to 5');
  await expect(movePosition(log, move({ to: -1 }))).rejects.toThrow('outside');
  expect(await positions(log)).toHaveLength(1);
});

test('a partition that was never read has no position to move', async () => {
  const log = await opened();
  await expect(movePosition(log, move({ partition: 0 }))).rejects.toThrow('counting has never read input/0');
  await expect(movePosition(log, move({ partition: 2 }))).rejects.toThrow('input has no partition 2');
});

test('the instance that owned the partition is fenced', async () => {
  const log = await opened();
  const owner = await log.fence('counting-one');
  await owner.commit([{ topic: SNAPSHOT, partition: 1, key: '@owner/counting-one', value: Buffer.from('{}') }]);
  await movePosition(log, move({}));
  await expect(owner.commit([])).rejects.toThrow();
});

test('what the owner wrote before it was fenced stays, except the position', async () => {
  const log = await opened();
  const owner = await log.fence('counting-one');
  await owner.commit([{ topic: SNAPSHOT, partition: 1, key: '@owner/counting-one', value: Buffer.from('{}') }]);
  const late: Log = {
    ...aliased(log),
    fence: async (id) => {
      const value = Buffer.from(JSON.stringify({ next: 4, clock: { now: 9 } }));
      if (id === 'counting-one') await owner.commit([{ topic: SNAPSHOT, partition: 1, key: '@position/input', value }]);
      return log.fence(id);
    },
  };
  expect(await movePosition(late, move({ to: 3 }))).toEqual({ from: 4, to: 3 });
  expect((await positions(log)).at(-1)).toEqual({ next: 3, clock: { now: 9 } });
});

test('an owner that has claimed the partition again in the meantime is not overruled', async () => {
  const log = await opened();
  const racing: Log = {
    ...aliased(log),
    fence: async (id) => {
      const transactor = await log.fence(id);
      const commit: typeof transactor.commit = async (records) => {
        if (records.some(({ key }) => key === '@position/input')) await log.fence(id);
        await transactor.commit(records);
      };
      return { ...transactor, commit };
    },
  };
  await expect(movePosition(racing, move({ to: 3 }))).rejects.toMatchObject({ name: 'Retry' });
  expect((await positions(log)).at(-1)).toEqual({ next: 2, clock: { now: 7 } });
});
