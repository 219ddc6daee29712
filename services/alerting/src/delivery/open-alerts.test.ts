import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { runProcessor } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { quiet } from '@vigil/stream/testing';
import { expect, test, vi } from 'vitest';
import { consoleOnly } from '../alert/routing.ts';
import { alertDecider } from '../processors.ts';
import { followOpenAlerts } from './open-alerts.ts';

const PARTITIONS = 1;
const stuck = (taskId: string, action: 'raise' | 'resolve') => ({
  ...example(Topic.notify, 'NOTIFY', {
    ...{ alertKey: `stuck_agent:${taskId}`, route: 'stuck_agent', agentId: 'w1', taskId, action, afterMs: null },
    ...{ groupWaitMs: 0, repeatMs: null, channels: ['default'], options: [], ticket: null },
  }),
  key: `stuck_agent:${taskId}`,
});

test('the open alerts of a sink are those of the stored state and of the events since, without their ends', async () => {
  const log = new MemoryLog({ partitions: PARTITIONS });
  const settings = { groupWaitMs: 0, endWaitMs: 0, repeatMs: 3_600_000, routing: consoleOnly };
  await using _decider = await runProcessor(log, alertDecider(settings), {
    ...quiet,
    partitions: PARTITIONS,
    paceMs: 5,
  });
  const stop = new AbortController();
  const named = (alerts: readonly { taskId: string | null }[]) => alerts.map(({ taskId }) => taskId).toSorted();
  await log.publish(stuck('T-1', 'raise'), stuck('T-2', 'raise'));
  await vi.waitFor(() => expect(log.events(Topic.alert)).toHaveLength(2), 60_000);
  // Events from before the start are in the stored state only.
  const openFor = await followOpenAlerts(log, { now: () => Date.now() + 10 * 60_000, signal: stop.signal });
  expect(named(openFor('console'))).toEqual(['T-1', 'T-2']);
  expect(openFor('pager')).toEqual([]);
  stop.abort();
});

test('events since the start add alerts, and remove those that are over', async () => {
  const log = new MemoryLog({ partitions: PARTITIONS });
  const settings = { groupWaitMs: 0, endWaitMs: 0, repeatMs: 3_600_000, routing: consoleOnly };
  await using _decider = await runProcessor(log, alertDecider(settings), {
    ...quiet,
    partitions: PARTITIONS,
    paceMs: 5,
  });
  const stop = new AbortController();
  const openFor = await followOpenAlerts(log, { now: () => 0, signal: stop.signal });
  await log.publish(stuck('T-1', 'raise'), stuck('T-2', 'raise'));
  await vi.waitFor(() => expect(openFor('console')).toHaveLength(2), 60_000);
  await log.publish(stuck('T-1', 'resolve'));
  await vi.waitFor(() => expect(openFor('console').map(({ taskId }) => taskId)).toEqual(['T-2']), 60_000);
  stop.abort();
});
