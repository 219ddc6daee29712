import type { Count } from '@vigil/chassis';
import { type Draft, Topic } from '@vigil/events';

/** Counts what the case processor and the governor have decided. */
export const countDecided =
  (count: Count) =>
  (drafts: readonly Draft[]): void => {
    for (const { topic, type, payload } of drafts) {
      if (topic === Topic.agentOrder) count('orders', 1, { order: type });
      if (type === 'CASE_OPENED') count('cases_opened', 1, {});
      if (type === 'CASE_CLOSED') count('cases_closed', 1, { ending: payload.ending });
      if (type === 'STEP_ADMITTED') count('steps_admitted', 1, { step: payload.step });
      if (type === 'STEP_WITHHELD') count('steps_withheld', 1, { step: payload.step, reason: payload.why });
    }
  };
