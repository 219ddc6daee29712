import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { runProcessor } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { quiet } from '@vigil/stream/testing';
import { expect, test, vi } from 'vitest';
import { PLAIN } from '../alert/alerts.fixture.ts';
import { consoleOnly } from '../alert/routing.ts';
import { alertDecider } from '../processors.ts';
import { followNewestAlerts } from './newest-alerts.ts';
import type { AlertEvent } from './sink.ts';

const LIMIT = 60_000;
const notice = (action: 'raise' | 'resolve', severity: 'warning' | 'critical', agentId: string) => ({
  ...example(Topic.notify, 'NOTIFY', {
    ...{ ...PLAIN, alertKey: `stuck_agent:${agentId}`, route: 'stuck_agent', agentId, taskId: null, action, severity },
    ...{ channels: ['default'], options: [], deadlineAt: null, ticket: null },
  }),
  key: `stuck_agent:${agentId}`,
});

test('the newest event of an alert is known to those that wait with an earlier one, and to no other', async () => {
  const log = new MemoryLog({ partitions: 1 });
  const settings = { groupWaitMs: 0, endWaitMs: 0, repeatMs: 3_600_000, routing: consoleOnly };
  await using _decider = await runProcessor(log, alertDecider(settings), { ...quiet, partitions: 1, paceMs: 5 });
  const stop = new AbortController();
  const newest = await followNewestAlerts(log, { now: () => 0, signal: stop.signal });
  const eventsOf = (agentId: string) =>
    log.events(Topic.alert).filter(({ key }) => key === `stuck_agent:${agentId}`) as AlertEvent[];
  await log.publish(notice('raise', 'warning', 'w1'), notice('raise', 'warning', 'w2'));
  await log.publish(notice('raise', 'critical', 'w1'));
  await vi.waitFor(() => expect(eventsOf('w1')).toHaveLength(2), LIMIT);
  const [raised, updated] = eventsOf('w1') as [AlertEvent, AlertEvent];
  await vi.waitFor(() => expect(newest.after(raised)).toMatchObject({ eventId: updated.eventId }), LIMIT);
  expect(newest.after(updated)).toBeNull();
  expect(newest.after(eventsOf('w2')[0] as AlertEvent)).toBeNull();
  await log.publish(notice('resolve', 'critical', 'w1'));
  await vi.waitFor(() => expect(newest.after(raised)).toMatchObject({ type: 'ALERT_RESOLVED' }), LIMIT);
  stop.abort();
});
