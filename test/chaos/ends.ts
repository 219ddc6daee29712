import { Topic } from '@vigil/events';
import { type Chronicle, of } from './chronicle.ts';

/**
 * The end of an instance, epoch milliseconds. `at`: as its runtime reports; `knownAt`: when a reliable source had
 * reported it.
 */
export type End = { readonly at: number; readonly knownAt: number };
export type Instance = {
  readonly taskId: string;
  readonly agentId: string;
  readonly instanceId: string;
  readonly at: number;
};

/** Ends by instance, as its runtime has reported or a person has confirmed; the earliest report counts. */
export const endsOf = (chronicle: Chronicle): ReadonlyMap<string, End> => {
  const ends = new Map<string, End>();
  const end = (instanceId: string | null, event: End): void => {
    if (instanceId === null) return;
    const { at, knownAt } = ends.get(instanceId) ?? event;
    ends.set(instanceId, { at: Math.min(at, event.at), knownAt: Math.min(knownAt, event.knownAt) });
  };
  for (const { payload, stampedAt } of of(chronicle, Topic.controlAgent, 'AGENT_EXITED'))
    end(payload.instanceId, { at: payload.at ?? stampedAt, knownAt: stampedAt });
  for (const { payload, stampedAt } of of(chronicle, Topic.controlAgent, 'CONFIRM_DEATH'))
    end(payload.instanceId, { at: stampedAt, knownAt: stampedAt });
  for (const { payload } of of(chronicle, Topic.orderReceipt, 'ORDER_RECEIPT'))
    if (payload.confirmed) end(payload.instanceId, { at: payload.at, knownAt: payload.at });
  return ends;
};

/** Instances by their own reports, in the order of their beginnings. */
export const instancesOf = ({ diary }: Chronicle): readonly Instance[] =>
  diary.filter(({ what }) => what === 'began').toSorted((a, b) => a.at - b.at);

/** Spawned instances by the reports of their runtimes, in order. */
export const replacementsOf = (chronicle: Chronicle): readonly Instance[] => {
  const spawned = of(chronicle, Topic.spawnReceipt, 'SPAWN_RECEIPT').filter(
    ({ payload }) => payload.outcome === 'spawned',
  );
  const instances = new Map(
    spawned.map(({ payload: { taskId, agentId, instanceId, at } }) => [
      String(instanceId),
      { taskId, agentId: String(agentId), instanceId: String(instanceId), at },
    ]),
  );
  return [...instances.values()].toSorted((a, b) => a.at - b.at);
};
