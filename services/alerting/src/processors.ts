import { type EventOf, Topic, type TopicName } from '@vigil/events';
import { type DeciderProcessor, type MapperProcessor, topicsWritten } from '@vigil/stream';
import type { AlertingState } from './alert/alert-state.ts';
import { alerts } from './alert/alerts.ts';
import { AT_REST } from './alert/at-rest.ts';
import { isForGates } from './alert/gates.ts';
import type { Settings } from './alert/messages.ts';
import { GATES_KEY } from './alert/routing.ts';
import { GROUPS_AT_REST, type GroupSettings, type Groups, groups } from './groups/groups.ts';
import { agentNotices } from './notices/agents/agent-notices.ts';
import { warrantNotices } from './notices/agents/warrant-notices.ts';
import { fleetNotices } from './notices/fleet/fleet-notices.ts';
import { type Noticed, notifyAll } from './notices/notice.ts';
import { noPolicies, type PolicyAlerts } from './notices/policy-alerts.ts';
import { taskNotices } from './notices/tasks/task-notices.ts';

type Notify = typeof Topic.notify;
type Mapper<In extends TopicName> = MapperProcessor<In, Notify>;

/** A mapper of facts to notices for people. */
const mapper =
  <In extends TopicName>(
    of: 'agent' | 'task' | 'fleet',
    facts: Pick<Mapper<In>, 'reads' | 'time'>,
    notices: (input: EventOf<In>) => readonly Noticed[],
  ) =>
  (alerts: PolicyAlerts): Mapper<In> => ({
    service: 'alerting',
    processor: `alerting-${of}`,
    ...facts,
    writes: [Topic.notify],
    ticks: [],
    map: (input) => notifyAll(notices(input), input.policy, alerts),
  });

export const agentMapper = mapper(
  'agent',
  {
    reads: [Topic.agentHealth, Topic.agentIntervention, Topic.agentRequest],
    time: { topic: Topic.agentHealth, sources: 'own' },
  },
  (input) => [...agentNotices(input), ...warrantNotices(input)],
);

export const taskMapper = mapper(
  'task',
  { reads: [Topic.taskRecovery], time: { topic: Topic.taskRecovery, sources: 'own', everyMs: 5000 } },
  taskNotices,
);

export const fleetMapper = mapper(
  'fleet',
  { reads: [Topic.fleetGovernance, Topic.spending], time: { topic: Topic.fleetGovernance, sources: 'own' } },
  fleetNotices,
);

const DECIDER = { processor: 'alerting', service: 'alerting', writes: [Topic.alert] } as const;

/** All alert state, on one partition. No upstream service carries time for it: it writes its own ticks. */
export const alertDecider = (
  settings: Settings,
): DeciderProcessor<AlertingState, Notify | typeof Topic.controlAlerts, typeof Topic.alert> => ({
  ...DECIDER,
  reads: [Topic.notify, Topic.controlAlerts],
  time: { topic: Topic.notify, sources: 'own' },
  writesTicks: Topic.notify,
  ticks: [],
  decider: alerts(settings),
  stateKey: (input) => (isForGates(input) ? GATES_KEY : input.key),
  governing: { key: GATES_KEY, ruleOf: (gates) => alerts(settings, gates) },
  atRest: AT_REST,
});

/** Many alerts of one route at once, on one partition: it reads what the decider of alerts has raised. */
export const groupDecider = (
  settings: GroupSettings,
): DeciderProcessor<Groups, Notify | typeof Topic.alert, Notify> => ({
  processor: 'alerting-groups',
  service: 'alerting',
  reads: [Topic.notify, Topic.alert],
  writes: [Topic.notify],
  time: { topic: Topic.notify, sources: 'own' },
  ticks: [],
  decider: groups(settings),
  stateKey: () => 'groups',
  atRest: GROUPS_AT_REST,
});

export const WRITTEN = topicsWritten(agentMapper(noPolicies), taskMapper(noPolicies), fleetMapper(noPolicies), DECIDER);
