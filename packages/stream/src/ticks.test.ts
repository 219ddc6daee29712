import { Topic } from '@vigil/events';
import { expect, test } from 'vitest';
import { MemoryLog } from './memory-log.ts';
import { startDoor } from './ticks.ts';

test('a door says to every partition that it is open, at once', async () => {
  const log = new MemoryLog({ partitions: 2 });
  const door = await startDoor(log, 'gateway');
  await door.stop();
  for (const partition of [0, 1])
    expect(log.partition(Topic.heartbeat, partition)).toMatchObject([{ key: '@door/gateway', value: null }]);
});
