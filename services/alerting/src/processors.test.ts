import { type HealthEvent, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { runProcessor } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { expect, test, vi } from 'vitest';
import { agentMapper, alertDecider, fleetMapper, taskMapper } from './processors.ts';

const partitions = 2;

test('what happens to agents, tasks and the fleet becomes alerts, each under its key', async () => {
  const log = new MemoryLog({ partitions });
  const options = { partitions, paceMs: 5 };
  await using running = new AsyncDisposableStack();
  running.use(await runProcessor(log, agentMapper, options));
  running.use(await runProcessor(log, taskMapper, options));
  running.use(await runProcessor(log, fleetMapper, options));
  running.use(await runProcessor(log, alertDecider({ groupWaitMs: 0, repeatMs: 60_000 }), options));
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
});
