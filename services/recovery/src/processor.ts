import { Topic } from '@vigil/events';
import type { DeciderProcessor } from '@vigil/stream';
import { recovery } from './task/recovery.ts';
import type { Recovery } from './task/state.ts';
import { upgrades } from './upgrades.ts';

type In =
  | typeof Topic.taskHealth
  | typeof Topic.recoverTask
  | typeof Topic.reviewTask
  | typeof Topic.spawnRuling
  | typeof Topic.spawnReceipt
  | typeof Topic.taskCheckpoint;
type Out =
  | typeof Topic.taskRecovery
  | typeof Topic.admitStep
  | typeof Topic.agentOrder
  | typeof Topic.decideCase
  | typeof Topic.agentHealthcheck;

/** The task key space: one recovery per task. Its time comes from every partition of the evaluator. */
export const processor: DeciderProcessor<Recovery, In, Out> = {
  processor: 'recovery',
  service: 'recovery',
  reads: [
    Topic.taskHealth,
    Topic.recoverTask,
    Topic.reviewTask,
    Topic.spawnRuling,
    Topic.spawnReceipt,
    Topic.taskCheckpoint,
  ],
  writes: [Topic.taskRecovery, Topic.admitStep, Topic.agentOrder, Topic.decideCase, Topic.agentHealthcheck],
  time: { topic: Topic.taskHealth, sources: 'every', everyMs: 5000 },
  ticks: [{ topic: Topic.taskRecovery, everyMs: 5000, to: 'same' }],
  decider: recovery,
  atRest: {
    oldest: 1,
    upgrades,
    usual: null,
  },
};
