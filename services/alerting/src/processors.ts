import { Topic } from '@vigil/events';
import type { DeciderProcessor, MapperProcessor } from '@vigil/stream';
import { agentNotices } from './agent-notices.ts';
import { type Alert, alerts, initial, type Settings } from './alert.ts';
import { fleetNotices } from './fleet-notices.ts';
import { taskNotices } from './task-notices.ts';

type Notify = typeof Topic.notify;

const mapper = { service: 'alerting', writes: [Topic.notify], ticks: [] } as const;

export const agentMapper: MapperProcessor<typeof Topic.agentHealth | typeof Topic.agentIntervention, Notify> = {
  ...mapper,
  processor: 'alerting-agent',
  reads: [Topic.agentHealth, Topic.agentIntervention],
  time: { topic: Topic.agentHealth, sources: 'own' },
  map: agentNotices,
};

export const taskMapper: MapperProcessor<typeof Topic.taskRecovery, Notify> = {
  ...mapper,
  processor: 'alerting-task',
  reads: [Topic.taskRecovery],
  time: { topic: Topic.taskRecovery, sources: 'own', everyMs: 5000 },
  map: taskNotices,
};

export const fleetMapper: MapperProcessor<typeof Topic.fleetGovernance, Notify> = {
  ...mapper,
  processor: 'alerting-fleet',
  reads: [Topic.fleetGovernance],
  time: { topic: Topic.fleetGovernance, sources: 'own' },
  map: fleetNotices,
};

/** All alert state, on one partition. Nobody upstream carries time for it: it writes its own ticks. */
export const alertDecider = (
  settings: Settings,
): DeciderProcessor<Alert, Notify | typeof Topic.steerAlerts, typeof Topic.alert> => ({
  processor: 'alerting',
  service: 'alerting',
  reads: [Topic.notify, Topic.steerAlerts],
  writes: [Topic.alert],
  time: { topic: Topic.notify, sources: 'own' },
  writesTicks: Topic.notify,
  ticks: [],
  decider: alerts(settings),
  shape: 3,
  upgrade: (_, state) => ({ ...initial, ...(state as Partial<Alert>) }),
});
