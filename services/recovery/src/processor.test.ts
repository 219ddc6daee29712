import { type HealthEvent, Topic } from '@vigil/events';
import { runProcessor } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { quiet } from '@vigil/stream/testing';
import { expect, test, vi } from 'vitest';
import { processor } from './processor.ts';
import { recoverTask, took } from './task/story.fixture.ts';

test.each([1, 4])(
  'topics of two partitions are refused where the setting is %i: no deadline would ever fire',
  async (partitions) => {
    const log = new MemoryLog({ partitions: 2 });
    await expect(runProcessor(log, processor, { ...quiet, partitions })).rejects.toMatchObject({
      name: 'Refused',
      message: expect.stringContaining(`VIGIL_PARTITIONS is ${partitions}: set it to 2`),
    });
  },
);

test('a request to recover becomes one request to the governor, also when it is written twice', async () => {
  const log = new MemoryLog({ partitions: 2 });
  await using _ = await runProcessor(log, processor, { ...quiet, partitions: 2, paceMs: 5 });
  await log.publish(recoverTask(), recoverTask());
  const emitted = (topic: HealthEvent['topic']) => log.events(topic as typeof Topic.admitStep);
  await vi.waitFor(() => expect(emitted(Topic.admitStep)).toHaveLength(1), 60_000);
  await log.publish(took('worker-7'));
  await vi.waitFor(() => expect(emitted(Topic.taskRecovery)).toHaveLength(1), 60_000);
  expect(emitted(Topic.admitStep)).toMatchObject([
    { type: 'ADMIT_SPAWN', key: 'fleet', stateKey: 'OMN-1234', version: 1 },
    { type: 'WITHDRAW_STEP', key: 'fleet', version: 3 },
  ]);
  expect(emitted(Topic.taskRecovery)).toMatchObject([{ type: 'TASK_RELEASED', version: 2 }]);
});
