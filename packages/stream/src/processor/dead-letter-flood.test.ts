import { expect, test } from 'vitest';
import type { OutRecord } from '../log/log.ts';
import { dependencies, jsonCodec, listening, topicsOf, writerOn } from '../runner/processors.fixture.ts';
import { MemoryLog } from '../testing/memory/memory-log.ts';
import { deadLetters, feeding, T } from './fold.fixture.ts';
import { PartitionTask } from './partition-task.ts';

const garbage = Buffer.from('garbage');
const processor = listening('run', { foreign: ['run.other' as never] });

/** A fold, and bad records for it, one by one. */
const flooding = () => {
  const counted: string[] = [];
  const one = feeding(processor, dependencies({ count: (...[metric]) => counted.push(metric) }));
  const outs: OutRecord[] = [];
  const flood = (n: number, key = 'a') => {
    for (let i = 0; i < n; i++) outs.push(...one.give('run.other', 0, key, garbage));
  };
  const take = () => deadLetters(outs.splice(0));
  const total = (metric: string) => counted.filter((name) => name === metric).length;
  return { ...one, flood, take, total };
};

test('above 60 bad records of a key in a minute one dead letter has the number of the others', () => {
  const { tick, flood, take, total } = flooding();
  tick(0);
  flood(1000);
  expect(take()).toHaveLength(60);
  expect(deadLetters(tick(59_999))).toEqual([]);
  expect(deadLetters(tick(60_000))).toMatchObject([
    { failure_reason: 'left_out', left_out: 940, original_message: { key: 'a', value: null, truncated: true } },
  ]);
  expect(deadLetters(tick(120_000))).toEqual([]);
  expect([total('dead_letters'), total('dead_letters_left_out')]).toEqual([1000, 940]);
});

test('60 bad records leave none out', () => {
  const { tick, flood, take } = flooding();
  tick(0);
  flood(60);
  expect(take()).toHaveLength(60);
  expect(deadLetters(tick(60_000))).toEqual([]);
});

test('good records of the same key are decided as before', () => {
  const { tick, flood, heartbeat } = flooding();
  tick(0);
  flood(1000);
  expect(heartbeat(1)).toHaveLength(1);
});

test('a bad record that begins the next minute comes after the number of the last, and has its own dead letter', () => {
  const { tick, flood, take, give } = flooding();
  tick(0);
  flood(61);
  take();
  const outs = give('run.in', 60_000, 'a', garbage);
  expect(deadLetters(outs).map(({ failure_reason }) => failure_reason)).toEqual(['left_out', 'not_json']);
});

test('faults of Vigil above the quota still stop the service', () => {
  const { tick, flood, event, fold, give } = flooding();
  tick(0);
  flood(61);
  for (let i = 0; i < 20; i++) give('run.in', 0, 'a', event('BOOM'));
  expect(fold.limits.exceeded).toBe('20 records in a row are dead letters');
});

test('a restart within the minute gives a key no second quota, and loses no count', async () => {
  const log = new MemoryLog({ topics: topicsOf('run', 1), codec: jsonCodec(), now: () => T });
  const written = () => deadLetters(log.records('onex.dlq.run.dead-letter.v1'));
  const takeIn = async (batches: number) => {
    const task = new PartitionTask(log, processor, dependencies());
    await task.open(writerOn(log));
    for (let i = 0; i < batches; i++) {
      const fetched = task.positions.get('run.other') as number;
      for (let n = 0; n < 50; n++) log.publishRaw('run.other', 'a', garbage);
      const records = log.records('run.other').slice(fetched);
      const next = fetched + records.length;
      await task.take({ topic: 'run.other', partition: 0, fetched, next, end: next, records });
    }
    return task;
  };
  await (await takeIn(1)).close();
  await (await takeIn(1)).close();
  expect(written()).toHaveLength(60);
  const task = await takeIn(1);
  const tick = {
    topic: 'run.in',
    partition: 0,
    offset: 0,
    key: '@tick/0',
    value: null,
    timestamp: T + 60_000,
    headers: {},
  };
  await task.take({ topic: 'run.in', partition: 0, fetched: 0, next: 1, end: 1, records: [tick] });
  expect(written().slice(60)).toMatchObject([{ failure_reason: 'left_out', left_out: 90 }]);
  const positions = log.records('onex.snapshot.run.state.v1').filter(({ key }) => key === '@position/run.in');
  expect(JSON.parse(String(positions.at(-1)?.value))).not.toHaveProperty('deadLetters');
});
