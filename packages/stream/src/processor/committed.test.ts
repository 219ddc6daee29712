import type { Draft } from '@vigil/events';
import { expect, test } from 'vitest';
import { dependencies, jsonCodec, listening, topicsOf, writerOn } from '../runner/processors.fixture.ts';
import { MemoryLog } from '../testing/memory/memory-log.ts';
import { PartitionTask } from './partition-task.ts';

const opened = async (onCommitted: (drafts: readonly Draft[]) => void) => {
  const log = new MemoryLog({ topics: topicsOf('run', 1), codec: jsonCodec(), now: () => 1_795_305_600_000 });
  for (let i = 0; i < 3; i++)
    log.publishRaw('run.in', 'a', Buffer.from(JSON.stringify({ type: 'HEARTBEAT', payload: {} })));
  const task = new PartitionTask(log, listening('run'), dependencies({ onCommitted }));
  const writer = writerOn(log);
  await task.open(writer);
  const records = log.records('run.in');
  return { log, task, writer, batch: { topic: 'run.in', partition: 0, fetched: 0, next: 3, end: 3, records } };
};

test('a decision is reported once it is committed, and only once', async () => {
  const emitted: Draft[] = [];
  const written: number[] = [];
  const { log, task, batch } = await opened((drafts) => {
    emitted.push(...drafts);
    written.push(log.events('run.out' as never).length);
  });
  await task.take(batch);
  await task.take(batch);
  expect(emitted).toHaveLength(3);
  expect(written).toEqual([3]);
});

test('a decision of a fenced task is not reported', async () => {
  const emitted: Draft[] = [];
  const { log, task, writer, batch } = await opened((drafts) => emitted.push(...drafts));
  await log.fence(writer.id);
  await expect(task.take(batch)).rejects.toThrow();
  expect(emitted).toEqual([]);
  expect(log.events('run.out' as never)).toEqual([]);
});
