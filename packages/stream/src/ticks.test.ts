import { Topic } from '@vigil/events';
import { expect, test, vi } from 'vitest';
import type { Log } from './log.ts';
import { silent } from './logger.ts';
import { MemoryLog } from './memory-log.ts';
import { startDoor, startTicks } from './ticks.ts';

test('a door says to every partition that it is open, at once', async () => {
  const log = new MemoryLog({ partitions: 2 });
  const door = await startDoor(log, 'gateway');
  await door.stop();
  for (const partition of [0, 1])
    expect(log.partition(Topic.heartbeat, partition)).toMatchObject([{ key: '@door/gateway', value: null }]);
});

test('a partition that cannot be written to keeps no other from its ticks, and has none queued behind it', async () => {
  vi.useFakeTimers();
  try {
    const written: number[] = [];
    const log = new MemoryLog({ partitions: 2 });
    const write: Log['write'] = ([record]) => {
      written.push(record?.partition ?? -1);
      return record?.partition === 0 ? new Promise(() => {}) : Promise.resolve();
    };
    startTicks(Object.assign(Object.create(log), { write }), Topic.heartbeat, () => [0, 1], silent);
    await vi.advanceTimersByTimeAsync(3000);
    expect(written).toEqual([0, 1, 1, 1, 1]);
  } finally {
    vi.useRealTimers();
  }
});
