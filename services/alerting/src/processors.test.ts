import { type HealthEvent, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { runProcessor } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { expect, test, vi } from 'vitest';
import { runDeliveries } from './deliveries.ts';
import { noPolicies } from './policy-alerts.ts';
import { agentMapper, alertDecider, fleetMapper, taskMapper } from './processors.ts';
import { consoleOnly } from './routing.ts';

const partitions = 2;

test('what happens to agents, tasks and the fleet becomes alerts, each under its key', async () => {
  const log = new MemoryLog({ partitions });
  const options = { partitions, paceMs: 5 };
  await using running = new AsyncDisposableStack();
  running.use(await runProcessor(log, agentMapper(noPolicies), options));
  running.use(await runProcessor(log, taskMapper(noPolicies), options));
  running.use(await runProcessor(log, fleetMapper, options));
  running.use(
    await runProcessor(log, alertDecider({ groupWaitMs: 0, repeatMs: 60_000, routing: consoleOnly }), options),
  );
  const lines: string[] = [];
  const world = { write: (line: string) => void lines.push(line), logger: { info() {}, warn() {}, error() {} } };
  running.use(await runDeliveries(log, ['console', 'console'], world));
  await log.say(
    example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', { to: 'STUCK' }),
    example(Topic.taskRecovery, 'RECOVERY_FAILED'),
    example(Topic.fleetGovernance, 'BRAKE_ENGAGED'),
  );
  const raised = () => log.events(Topic.alert).filter((event: HealthEvent) => event.type === 'ALERT_RAISED');
  await vi.waitFor(() => expect(raised()).toHaveLength(3), 5000);
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
  await vi.waitFor(() => expect(delivered()).toHaveLength(3), 5000);
  expect(lines.map((line) => line.split(':')[0]).toSorted()).toEqual([
    'ALERT raised [critical] fleet_brake fleet',
    'ALERT raised [critical] recovery_failed OMN-1234',
    'ALERT raised [warning] stuck_agent OMN-1234',
  ]);
});
