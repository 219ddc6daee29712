import { type PolicyRef, Topic } from '@vigil/events';
import { type DeciderProcessor, type MapperProcessor, topicsWritten } from '@vigil/stream';
import { alerts } from './alert/alert.ts';
import type { Alert, Settings } from './alert/alert-state.ts';
import { agentNotices } from './notices/agent-notices.ts';
import { fleetNotices } from './notices/fleet-notices.ts';
import { type Noticed, notify } from './notices/notice.ts';
import { noPolicies, type PolicyAlerts } from './notices/policy-alerts.ts';
import { taskNotices } from './notices/task-notices.ts';

type Notify = typeof Topic.notify;

const mapper = { service: 'alerting', writes: [Topic.notify], ticks: [] } as const;

type Seen = { readonly policy: PolicyRef | null };
const mapped =
  <In extends Seen>(notices: (input: In) => readonly Noticed[], alerts: PolicyAlerts) =>
  (input: In) =>
    notices(input).map((one) => notify(one, input.policy, alerts));

type OfAgent = typeof Topic.agentHealth | typeof Topic.agentIntervention;
export const agentMapper = (alerts: PolicyAlerts): MapperProcessor<OfAgent, Notify> => ({
  ...mapper,
  processor: 'alerting-agent',
  reads: [Topic.agentHealth, Topic.agentIntervention],
  time: { topic: Topic.agentHealth, sources: 'own' },
  map: mapped(agentNotices, alerts),
});

export const taskMapper = (alerts: PolicyAlerts): MapperProcessor<typeof Topic.taskRecovery, Notify> => ({
  ...mapper,
  processor: 'alerting-task',
  reads: [Topic.taskRecovery],
  time: { topic: Topic.taskRecovery, sources: 'own', everyMs: 5000 },
  map: mapped(taskNotices, alerts),
});

type OfFleet = typeof Topic.fleetGovernance | typeof Topic.spending;
export const fleetMapper = (alerts: PolicyAlerts): MapperProcessor<OfFleet, Notify> => ({
  ...mapper,
  processor: 'alerting-fleet',
  reads: [Topic.fleetGovernance, Topic.spending],
  time: { topic: Topic.fleetGovernance, sources: 'own' },
  map: mapped(fleetNotices, alerts),
});

const DECIDER = { processor: 'alerting', service: 'alerting', writes: [Topic.alert] } as const;

/** All alert state, on one partition. No upstream service carries time for it: it writes its own ticks. */
export const alertDecider = (
  settings: Settings,
): DeciderProcessor<Alert, Notify | typeof Topic.controlAlerts, typeof Topic.alert> => ({
  ...DECIDER,
  reads: [Topic.notify, Topic.controlAlerts],
  time: { topic: Topic.notify, sources: 'own' },
  writesTicks: Topic.notify,
  ticks: [],
  decider: alerts(settings),
  atRest: { oldest: 8, upgrades: [], usual: null },
});

export const WRITTEN = topicsWritten(agentMapper(noPolicies), taskMapper(noPolicies), fleetMapper(noPolicies), DECIDER);
