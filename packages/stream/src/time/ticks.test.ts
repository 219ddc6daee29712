import { Topic } from '@vigil/events';
import { expect, test, vi } from 'vitest';
import type { Log } from '../log/log.ts';
import { silentLogger } from '../logger.ts';
import { MemoryLog } from '../testing/memory/memory-log.ts';
import { startIngress, startTicks, untilNextTick } from './ticks.ts';

const ingressOn = (log: MemoryLog, isOpen = () => true, write: Log['write'] = log.write) =>
  startIngress(log, { name: 'gateway:a', write, isOpen, logger: silentLogger });

test('an ingress reports to every partition at once that it is open, and at its stop that it is closed for good', async () => {
  const log = new MemoryLog({ partitions: 2 });
  const ingress = await ingressOn(log);
  await ingress.stop();
  for (const partition of [0, 1])
    expect(log.partition(Topic.heartbeat, partition)).toMatchObject([
      { key: '@ingress/gateway:a', value: null },
      { key: '@ingress/gateway:a', value: Buffer.from('released') },
    ]);
});

test('an ingress that is not open reports nothing, and writes probes to detect when it can write', async () => {
  const log = new MemoryLog({ partitions: 1 });
  const ingress = await ingressOn(log, () => false);
  expect(log.records(Topic.heartbeat).map(({ key }) => key)).toEqual(['@probe/gateway:a']);
  await ingress.stop();
});

test('an ingress still stops when it cannot write to a partition, and releases its agents in the others', async () => {
  vi.useFakeTimers();
  try {
    const log = new MemoryLog({ partitions: 2 });
    const ingress = await ingressOn(log, undefined, (records) =>
      records[0]?.partition === 0 ? new Promise(() => {}) : log.write(records),
    );
    const stopped = ingress.stop();
    await vi.advanceTimersByTimeAsync(3000);
    await stopped;
    expect(log.partition(Topic.heartbeat, 1).at(-1)).toMatchObject({ value: Buffer.from('released') });
  } finally {
    vi.useRealTimers();
  }
});

test('a partition that cannot be written to does not delay the ticks of others, and queues no further tick', async () => {
  vi.useFakeTimers();
  try {
    const written: number[] = [];
    const log = new MemoryLog({ partitions: 2 });
    const write: Log['write'] = ([record]) => {
      written.push(record?.partition ?? -1);
      return record?.partition === 0 ? new Promise<null>(() => {}) : Promise.resolve(null);
    };
    vi.setSystemTime(1_795_305_600_000);
    startTicks(Object.assign(Object.create(log), { write }), Topic.heartbeat, () => [0, 1], silentLogger);
    await vi.advanceTimersByTimeAsync(3000);
    expect(written).toEqual([0, 1, 1, 1, 1]);
  } finally {
    vi.useRealTimers();
  }
});

test('each writer writes at the whole seconds of its clock, and never twice for one second', () => {
  const second = 1_795_305_600_000;
  expect(untilNextTick(second)).toBe(1000);
  expect(untilNextTick(second + 1)).toBe(999);
  expect(untilNextTick(second + 900)).toBe(100);
  expect(untilNextTick(second + 901)).toBe(1099);
  expect(untilNextTick(second + 999)).toBe(1001);
});
