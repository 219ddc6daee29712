import type { Count } from '@vigil/chassis';
import { type Draft, Topic } from '@vigil/events';

/** Counts what recovery has decided: the events of recoveries, and the orders to start or end agents. */
export const countDecided =
  (count: Count) =>
  (drafts: readonly Draft[]): void => {
    for (const { topic, type } of drafts) {
      if (topic === Topic.taskRecovery) count('recoveries', 1, { event: type });
      if (topic === Topic.agentOrder) count('orders', 1, { order: type });
    }
  };
