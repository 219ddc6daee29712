import { Topic, type TopicName } from '@vigil/events';
import type { Statement } from '@vigil/read-model';
import type { PlacedEvent } from '@vigil/stream';
import { agentHealth, agentObservation, fleetPresence } from './project/agents.ts';
import { alert } from './project/alerts.ts';
import { agentIntervention } from './project/cases.ts';
import { deadLetters } from './project/dead-letters.ts';
import { fleetGovernance, policy, spawnRuling, spending, stepRuling } from './project/fleet.ts';
import type { Handlers } from './project/handlers.ts';
import { outcome } from './project/outcomes.ts';
import { agentRequest } from './project/requests.ts';
import { agentOrder, orderReceipt, runtimePresence, spawnReceipt } from './project/runtimes.ts';
import { taskCheckpoint, taskHealth, taskRecovery } from './project/tasks.ts';

/** For each topic, the rows that its events write. */
const table = {
  [Topic.agentObservation]: agentObservation,
  [Topic.agentHealth]: agentHealth,
  [Topic.fleetPresence]: fleetPresence,
  [Topic.policy]: policy,
  [Topic.taskHealth]: taskHealth,
  [Topic.taskCheckpoint]: taskCheckpoint,
  [Topic.agentIntervention]: agentIntervention,
  [Topic.agentRequest]: agentRequest,
  [Topic.stepRuling]: stepRuling,
  [Topic.spawnRuling]: spawnRuling,
  [Topic.fleetGovernance]: fleetGovernance,
  [Topic.spending]: spending,
  [Topic.agentOrder]: agentOrder,
  [Topic.orderReceipt]: orderReceipt,
  [Topic.spawnReceipt]: spawnReceipt,
  [Topic.runtimePresence]: runtimePresence,
  [Topic.taskRecovery]: taskRecovery,
  [Topic.alert]: alert,
  [Topic.dlqAlerting]: deadLetters,
  [Topic.dlqHealthEvaluator]: deadLetters,
  [Topic.dlqHeartbeatIngest]: deadLetters,
  [Topic.dlqIntervention]: deadLetters,
  [Topic.dlqProjector]: deadLetters,
  [Topic.dlqRecovery]: deadLetters,
} satisfies { readonly [T in TopicName]?: Handlers<T> };

export type ProjectedTopic = keyof typeof table;

/** The topics that the projector reads: every evt topic of Vigil, orders and dead letters. */
export const reads = Object.keys(table) as readonly ProjectedTopic[];

/**
 * The changes of an event in the read model. An event type of a newer version changes nothing: after an upgrade the
 * rows are rebuilt from the topics.
 */
export const project = (event: PlacedEvent<ProjectedTopic>): readonly Statement[] => {
  const handlers: Readonly<Record<string, unknown>> = table[event.topic];
  const handler = handlers[event.type] as ((event: PlacedEvent<TopicName>) => readonly Statement[]) | undefined;
  return handler === undefined ? [] : [...handler(event), ...outcome(event)];
};
