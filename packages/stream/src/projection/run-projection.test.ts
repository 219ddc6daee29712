import { RegistryTrouble } from '@vigil/events';
import { afterEach, expect, test, vi } from 'vitest';
import { Retry } from '../errors.ts';
import type { Log, Member, Membership } from '../log/log.ts';
import { event, projecting, sinkOf } from '../runner/outside.fixture.ts';
import { jsonCodec, topicsOf } from '../runner/processors.fixture.ts';
import { aliased, PARTITIONS, until } from '../runner/runner.fixture.ts';
import { MemoryLog } from '../testing/memory/memory-log.ts';

const KEY = 'run.in/0';

afterEach(() => {
  vi.useRealTimers();
});

/** A projection whose fetches come from the test. */
const started = async () => {
  const log = new MemoryLog({ topics: topicsOf('run', PARTITIONS), codec: jsonCodec() });
  const members: Member[] = [];
  const join: Log['join'] = (member) => {
    members.push(member);
    return log.join(member);
  };
  const sink = sinkOf();
  const running = await projecting({ ...aliased(log), join }, 'run', sink);
  await until(() => expect(running.ready()).toBe(true));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const skip = (fetched: number, next: number) =>
    members[0]?.onSkipped({ topic: 'run.in', partition: 0, fetched, next });
  return { log, sink, running, skip, member: members[0] as Member };
};

const minute = () => vi.advanceTimersByTimeAsync(60_000);

test('the sink gets the last position past control records within a minute, once, though no record follows', async () => {
  const { sink, running, skip } = await started();
  for (let next = 1; next <= 9; next++) skip(next - 1, next);
  expect(sink.applied).toBe(0);
  await minute();
  expect([sink.positions.get(KEY), sink.applied]).toEqual([9, 1]);
  await minute();
  skip(9, 10);
  await minute();
  expect([sink.positions.get(KEY), sink.applied]).toEqual([10, 2]);
  await running.stop();
});

test('the sink gets the position after a batch of only ticks, and after dead letters', async () => {
  const { sink, running, member } = await started();
  const mark = { topic: 'run.in', partition: 0, offset: 0, timestamp: 1, headers: {}, key: '@tick/0', value: null };
  expect(await member.take({ topic: 'run.in', partition: 0, fetched: 0, next: 1, end: 1, records: [mark] })).toBe(true);
  expect(sink.applied).toBe(0);
  await minute();
  expect(sink.positions.get(KEY)).toBe(1);
  await running.stop();
});

test('an event that has been written in the meantime is not written again', async () => {
  const { sink, running, skip, member } = await started();
  skip(0, 9);
  const record = { ...event('run', 'a', 1), partition: 0, offset: 9, timestamp: 1, headers: {} };
  const batch = { topic: 'run.in', partition: 0, fetched: 9, next: 10, end: 10, records: [record] };
  expect(await member.take(batch)).toBe(true);
  await minute();
  expect([sink.positions.get(KEY), sink.applied]).toEqual([10, 1]);
  await running.stop();
});

test('a projection that is stopped, or has lost its partition, writes no more positions', async () => {
  const { sink, running, skip, member } = await started();
  skip(0, 2);
  member.onAssigned(new Set(), { seek() {}, pause() {}, resume() {} } as unknown as Membership);
  await minute();
  expect(sink.applied).toBe(0);
  const other = await started();
  other.skip(0, 2);
  await other.running.stop();
  await minute();
  expect(other.sink.applied).toBe(0);
  await running.stop();
});

test('a batch that waits for the registry does not delay readiness once another member has its partition', async () => {
  const { log, running, member } = await started();
  const registry = Promise.withResolvers<void>();
  vi.spyOn(log.codec, 'learn').mockReturnValue(registry.promise);
  const record = { ...event('run', 'a', 1, '?6'), partition: 0, offset: 0, timestamp: 1, headers: {} };
  const taken = member.take({ topic: 'run.in', partition: 0, fetched: 0, next: 1, end: 1, records: [record] });
  const membership = { seek() {}, pause: vi.fn(), resume() {} };
  member.onAssigned(new Set([1]), membership as unknown as Membership);
  await until(() => expect(running.ready()).toBe(true));
  registry.reject(new RegistryTrouble('the registry is away'));
  expect(await taken).toBe(false);
  expect(running.ready()).toBe(true);
  expect(membership.pause).not.toHaveBeenCalledWith(0);
  await running.stop();
});

test('a fetch of events waits for it, because the sink has one writer at a time', async () => {
  const { sink, running, skip, member } = await started();
  skip(0, 2);
  const writing = minute();
  const record = { ...event('run', 'a', 1), partition: 0, offset: 2, timestamp: 1, headers: {} };
  const batch = { topic: 'run.in', partition: 0, fetched: 2, next: 3, end: 3, records: [record] };
  expect(await member.take(batch)).toBe(true);
  await writing;
  expect([sink.positions.get(KEY), sink.rows.get('a')]).toEqual([3, 1]);
  await running.stop();
});

test('a position before the log is refused with a reason of its own: records were deleted, and the log is the same', async () => {
  const log = new MemoryLog({ topics: topicsOf('run', PARTITIONS), codec: jsonCodec() });
  const bounds = async () => Array.from({ length: PARTITIONS }, () => ({ low: 5, high: 9 }));
  const startAt = async (offset: number) => {
    await using running = await projecting(
      { ...aliased(log), bounds },
      'run',
      sinkOf(new Map(), new Map([[KEY, offset]])),
    );
    await running.finished;
  };
  await expect(startAt(4)).rejects.toThrow('records were deleted before they were projected');
  await expect(startAt(10)).rejects.toThrow('the store belongs to another log');
});

test('a store that goes away ends nothing: the projection asks it again, and continues at its position', async () => {
  const log = new MemoryLog({ topics: topicsOf('run', PARTITIONS), codec: jsonCodec() });
  const sink = sinkOf();
  const { open, apply } = sink;
  let isAway = false;
  let asked = 0;
  const ask = (): void => {
    if (!isAway) return;
    asked += 1;
    throw new Retry('the store is away');
  };
  const leaving = Object.assign(sink, {
    open: async () => {
      ask();
      return open();
    },
    apply: async (batch: Parameters<typeof apply>[0]) => {
      ask();
      await apply.call(sink, batch);
    },
  });
  const running = await projecting(log, 'run', leaving);
  let ended: unknown = null;
  running.finished.catch((error: unknown) => {
    ended = error;
  });
  await until(() => expect(running.ready()).toBe(true));
  isAway = true;
  await log.write([event('run', 'a', 1)]);
  await until(() => expect(asked).toBeGreaterThan(2));
  expect([ended, running.ready()]).toEqual([null, false]);
  isAway = false;
  await until(() => expect(sink.rows.get('a')).toBe(1));
  expect(running.ready()).toBe(true);
  await running.stop();
});
