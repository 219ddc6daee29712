import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type EventOf, type HealthEvent, Topic, type TopicName } from '@vigil/events';
import type { TestSystem } from '../support/system.ts';
import type { PlannedAgent } from './behaviours.ts';

/** An event of a topic. `stampedAt`: on command topics the broker's time. */
export type Stamped = HealthEvent & { readonly stampedAt: number };

/**
 * A record of an agent itself. `beside`: the process of an earlier instance on its task that still ran when it began.
 * `at`: epoch milliseconds
 */
export type Entry = {
  readonly what: string;
  readonly agentId: string;
  readonly instanceId: string;
  readonly taskId: string;
  readonly pid: number;
  readonly at: number;
  readonly beside?: number | null;
};

/** All facts for the judge: the behaviour of each agent, the events of the topics, and the agents' own records. */
export type Chronicle = {
  readonly planned: readonly PlannedAgent[];
  readonly events: readonly Stamped[];
  readonly diary: readonly Entry[];
};

const JUDGED: readonly TopicName[] = [
  Topic.controlAgent,
  Topic.agentHealth,
  Topic.taskHealth,
  Topic.fleetPresence,
  Topic.agentIntervention,
  Topic.agentOrder,
  Topic.orderReceipt,
  Topic.spawnReceipt,
  Topic.admitStep,
  Topic.stepRuling,
  Topic.spawnRuling,
  Topic.fleetGovernance,
  Topic.recoverTask,
  Topic.taskRecovery,
  Topic.decideCase,
  Topic.alert,
];

export const readDiary = (folder: string): readonly Entry[] => {
  const file = path.join(folder, 'diary');
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Entry);
};

/** All events from the beginning. No service may write in the meantime: the topics would not match. */
export const readEvents = async (on: Pick<TestSystem, 'events'>): Promise<readonly Stamped[]> => {
  const stamped: Stamped[] = [];
  for (const topic of JUDGED)
    for (const event of await on.events(topic))
      stamped.push({ ...event, stampedAt: event.record.timestamp } as Stamped);
  return stamped;
};

/** All of one type, in the order of their partitions. */
export const of = <T extends TopicName, K extends EventOf<T>['type']>(
  { events }: Pick<Chronicle, 'events'>,
  topic: T,
  type: K,
): readonly (Extract<EventOf<T>, { readonly type: K }> & { readonly stampedAt: number })[] =>
  events.filter((event) => event.topic === topic && event.type === type) as never;
