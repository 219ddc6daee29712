import { expect, test } from 'vitest';
import type { Bounds, Log } from '../log/log.ts';
import { type PartitionReading, Watchdog } from './watchdog.ts';

const watching = () => {
  const task = {
    partition: 0,
    progress: 0,
    phase: 'running' as PartitionReading['phase'],
    positions: new Map([['in', 5]]),
  };
  const broker = { end: 9, stableEnd: 9, answers: true };
  const bounds = async (): Promise<readonly Bounds[]> => {
    if (!broker.answers) throw new Error('away');
    return [{ low: 0, high: broker.end }];
  };
  const stableEnds = async (): Promise<readonly number[]> => [Math.min(broker.stableEnd, broker.end)];
  const reports: string[] = [];
  const watchdog = new Watchdog(
    { bounds, stableEnds } as unknown as Log,
    () => [task],
    ['in'],
    (what) => reports.push(what),
  );
  watchdog.stop();
  const looks = async (...seconds: number[]) => {
    for (const second of seconds) await watchdog.look(second * 1000);
  };
  return { task, broker, reports, watchdog, looks };
};

test('a partition without progress for more than 15 s in three looks, with something to read, is stuck', async () => {
  const { reports, watchdog, looks } = watching();
  await looks(0, 14, 15, 16, 17);
  expect(reports).toEqual([]);
  expect(watchdog.well).toBe(false);
  await looks(18);
  expect(reports).toEqual(['in/0 stands at 5 of 9, running, for 18 s']);
});

test('a partition that makes progress is not stuck, however slow it is', async () => {
  const { task, reports, watchdog, looks } = watching();
  for (let second = 0; second < 100; second += 10) {
    task.progress += 1;
    await looks(second, second + 9);
  }
  expect(reports).toEqual([]);
  expect(watchdog.well).toBe(true);
});

test('a partition with nothing to read is never stuck', async () => {
  const { broker, reports, watchdog, looks } = watching();
  broker.end = 5;
  await looks(...Array.from({ length: 100 }, (_, i) => i));
  expect(reports).toEqual([]);
  expect(watchdog.well).toBe(true);
});

test('a partition before an unfinished transaction of another writer is never stuck, but not healthy', async () => {
  const { broker, reports, watchdog, looks } = watching();
  broker.stableEnd = 5;
  await looks(...Array.from({ length: 100 }, (_, i) => i));
  expect(reports).toEqual([]);
  expect(watchdog.well).toBe(false);
  broker.stableEnd = 6;
  await looks(100, 101);
  expect(reports).toEqual([]);
  broker.stableEnd = 5;
  broker.end = 5;
  await looks(102);
  expect(watchdog.well).toBe(true);
});

test('a restore without progress is stuck, also if no input has unread records; a restore with progress never is', async () => {
  const { task, broker, reports, looks } = watching();
  task.phase = 'restoring';
  task.positions.clear();
  broker.end = 0;
  for (let second = 0; second < 1000; second += 10) {
    task.progress += 1;
    await looks(second, second + 9);
  }
  expect(reports).toEqual([]);
  await looks(1010, 1011, 1012);
  expect(reports).toEqual(['the restore of partition 0 makes no progress, restoring, for 22 s']);
});

test('while the broker does not answer, no partition is stuck and none is healthy; afterwards it takes three checks again', async () => {
  const { broker, reports, watchdog, looks } = watching();
  await looks(0, 16, 17);
  broker.answers = false;
  await looks(18, 19, 20, 60);
  expect(reports).toEqual([]);
  expect(watchdog.well).toBe(false);
  broker.answers = true;
  await looks(61, 62);
  expect(reports).toEqual([]);
  await looks(63);
  expect(reports).toHaveLength(1);
});
