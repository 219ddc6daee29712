import type { Draft } from '@vigil/events';
import { expect, test } from 'vitest';
import { MemoryLog } from '../memory/memory-log.ts';
import { jsonCodec, listening, surroundings, topicsOf } from '../runner/processors.fixture.ts';
import { Slot } from './partition-task.ts';

const opened = async (committed: (drafts: readonly Draft[]) => void) => {
  const log = new MemoryLog({ topics: topicsOf('run', 1), codec: jsonCodec(), now: () => 1_795_305_600_000 });
  for (let i = 0; i < 3; i++) log.sayRaw('run.in', 'a', Buffer.from(JSON.stringify({ type: 'BEAT', payload: {} })));
  const slot = new Slot(log, listening('run'), surroundings({ committed }));
  await slot.open();
  const records = log.records('run.in');
  return { log, slot, batch: { topic: 'run.in', partition: 0, fetched: 0, next: 3, end: 3, records } };
};

test('what was decided is told once it is committed, each once', async () => {
  const heard: Draft[] = [];
  const written: number[] = [];
  const { log, slot, batch } = await opened((drafts) => {
    heard.push(...drafts);
    written.push(log.events('run.out' as never).length);
  });
  await slot.take(batch);
  await slot.take(batch);
  expect(heard).toHaveLength(3);
  expect(written).toEqual([3]);
});

test('what another has fenced off is told to nobody', async () => {
  const heard: Draft[] = [];
  const { log, slot, batch } = await opened((drafts) => heard.push(...drafts));
  await log.fence(slot.transactionalId);
  await expect(slot.take(batch)).rejects.toThrow();
  expect(heard).toEqual([]);
  expect(log.events('run.out' as never)).toEqual([]);
});
