import { type HealthEvent, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { runProcessor } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { quiet } from '@vigil/stream/testing';
import { expect, test, vi } from 'vitest';
import { consoleOnly } from './alert/routing.ts';
import { runDeliveries } from './delivery/deliveries.ts';
import { deliveringTo, type Sink, TryLater } from './delivery/sink.ts';
import { noPolicies } from './notices/policy-alerts.ts';
import { agentMapper, alertDecider, fleetMapper, taskMapper } from './processors.ts';
import { consoleSink } from './sinks/console.ts';

const PARTITIONS = 2;
const sinkDeps = {
  now: () => 0,
  timeFlows: () => true,
  random: () => 0,
  logger: { debug() {}, info() {}, warn() {}, error() {} },
  count: () => {},
};

test('what happens to agents, tasks and the fleet becomes alerts, each under its key', async () => {
  const log = new MemoryLog({ partitions: PARTITIONS });
  const options = { ...quiet, partitions: PARTITIONS, paceMs: 5 };
  await using running = new AsyncDisposableStack();
  running.use(await runProcessor(log, agentMapper(noPolicies), options));
  running.use(await runProcessor(log, taskMapper(noPolicies), options));
  running.use(await runProcessor(log, fleetMapper(noPolicies), options));
  running.use(
    await runProcessor(
      log,
      alertDecider({ groupWaitMs: 0, endWaitMs: 0, repeatMs: 60_000, routing: consoleOnly }),
      options,
    ),
  );
  const lines: string[] = [];
  const sinks = [consoleSink((line) => void lines.push(line), ['console'])];
  running.use(await runDeliveries(log, sinks, sinkDeps));
  await log.publish(
    example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', { to: 'STUCK' }),
    example(Topic.taskRecovery, 'REVIEW_REQUIRED'),
    example(Topic.fleetGovernance, 'BRAKE_ENGAGED'),
  );
  const raised = () => log.events(Topic.alert).filter((event: HealthEvent) => event.type === 'ALERT_RAISED');
  await vi.waitFor(() => expect(raised()).toHaveLength(3), 60_000);
  expect(
    raised()
      .map(({ key, version }) => [key, version])
      .toSorted(),
  ).toEqual([
    ['fleet_brake:fleet', 1],
    ['recovery_failed:OMN-1234', 1],
    ['stuck_agent:OMN-1234', 1],
  ]);
  const delivered = () => log.events(Topic.alert).filter((event) => event.type === 'ALERT_DELIVERED');
  await vi.waitFor(() => expect(delivered()).toHaveLength(3), 60_000);
  expect(lines.map((line) => line.split(':')[0]).toSorted()).toEqual([
    'ALERT raised [critical] fleet_brake fleet',
    'ALERT raised [critical] recovery_failed OMN-1234',
    'ALERT raised [warning] stuck_agent OMN-1234',
  ]);
});

test('two changes of one alert in one moment are one message of a channel, also without a group wait', async () => {
  const log = new MemoryLog({ partitions: PARTITIONS });
  await using running = new AsyncDisposableStack();
  const options = { ...quiet, partitions: PARTITIONS, paceMs: 5 };
  const settings = { groupWaitMs: 0, endWaitMs: 0, repeatMs: 60_000, routing: consoleOnly };
  running.use(await runProcessor(log, agentMapper(noPolicies), options));
  running.use(await runProcessor(log, alertDecider(settings), options));
  const lines: string[] = [];
  const sinks = [consoleSink((line) => void lines.push(line), ['console'])];
  running.use(await runDeliveries(log, sinks, { ...sinkDeps, now: Date.now }));
  const turned = (to: 'STUCK' | 'FAILING') =>
    example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', { to, leftTaskId: null, endReason: null });
  await log.publish(turned('STUCK'), turned('FAILING'));
  const delivered = () => log.events(Topic.alert).filter((event) => event.type === 'ALERT_DELIVERED');
  await vi.waitFor(() => expect(delivered()).toHaveLength(1), 60_000);
  expect(lines).toEqual([
    expect.stringMatching(/^ALERT raised \[critical\] stuck_agent OMN-1234: worker-1 is FAILING/),
  ]);
});

test('a failing sink is reported to the others, once; when it is back it has lost nothing, and that alert is over', async () => {
  const log = new MemoryLog({ partitions: PARTITIONS });
  await using running = new AsyncDisposableStack();
  const routing = { defaults: ['console', 'pager'], configured: ['console', 'pager'] };
  const settings = { groupWaitMs: 0, endWaitMs: 0, repeatMs: 60_000, routing };
  running.use(await runProcessor(log, alertDecider(settings), { ...quiet, partitions: PARTITIONS, paceMs: 5 }));
  running.use(await runProcessor(log, taskMapper(noPolicies), { ...quiet, partitions: PARTITIONS, paceMs: 5 }));
  const lines: string[] = [];
  const delivered: string[] = [];
  let isAway = true;
  const deliver: Sink['deliver'] = async ({ payload }) => {
    if (isAway) throw new TryLater('away', 1);
    delivered.push(payload.alertKey);
  };
  const sinks = [consoleSink((line) => void lines.push(line), routing.configured), deliveringTo('pager', deliver)];
  running.use(await runDeliveries(log, sinks, { ...sinkDeps, now: Date.now, random: () => 2 }));
  await log.publish(example(Topic.taskRecovery, 'REVIEW_REQUIRED'));
  const failing = (what: string) => lines.filter((line) => line.startsWith(`ALERT ${what} [critical] sink_failing`));
  await vi.waitFor(() => expect(failing('raised')).toHaveLength(1), 60_000);
  isAway = false;
  await vi.waitFor(() => expect(failing('resolved')).toHaveLength(1), 60_000);
  expect(delivered).toEqual(['recovery_failed:OMN-1234']);
  expect(failing('raised')).toHaveLength(1);
});

test('a delivered alert is not sent again by a reactor that begins before it', async () => {
  const log = new MemoryLog({ partitions: PARTITIONS });
  const over = (title: string) => example(Topic.alert, 'ALERT_RESOLVED', { deliverAt: 5, sinks: ['console'], title });
  await log.publish(over('sent'), over('unsent'));
  const [{ eventId = '' } = {}] = log.events(Topic.alert);
  await log.publish(example(Topic.alert, 'ALERT_DELIVERED', { ofEventId: eventId, sink: 'console', ok: true }));
  const lines: string[] = [];
  const sinks = [consoleSink((line) => void lines.push(line), ['console'])];
  await using _running = await runDeliveries(log, sinks, sinkDeps);
  await vi.waitFor(() => expect(lines).toHaveLength(1), 60_000);
  expect(lines[0]).toContain('unsent');
});
