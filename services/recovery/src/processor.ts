import { onEveryHost, Topic } from '@vigil/events';
import type { DeciderProcessor } from '@vigil/stream';
import { lifeOf } from './lives.ts';
import { recovery } from './recovery.ts';
import type { Recovery } from './state.ts';

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

type Later = 'unused' | 'emits' | 'risen' | 'took' | 'lost' | 'unwanted' | 'absent' | 'finished';
type Said = Recovery['said'];
type Older = Omit<Recovery, Later | 'said'> &
  Partial<Pick<Recovery, Later>> & { readonly said: Omit<Said, 'asked'> & { readonly ended: readonly string[] } };

/** From a state of a shape that left out nothing. */
const from = <Older>(to: (state: Older) => unknown) => ({ usual: null, to: (state: unknown) => to(state as Older) });

const same = from((state: Recovery) => state);

/**
 * Shape 1 knew neither of admissions that are not used nor of whose stalls are told, shape 2 of no lives that rose and fell. Shape 3
 * knew who holds the task, and not who had it, was lost or is unwanted; whose end was asked for, and not when; and of no checkpoint
 * that is missing at one runtime only.
 */
const raised = (older: Older): unknown => {
  const { ended, ...said } = older.said;
  const asked = ended.map((life) => ({ life, at: 0, times: 1 }));
  return {
    ...{
      unused: null,
      unwanted: null,
      emits: false,
      risen: [],
      lost: [],
      absent: [],
      took: older.holders.map(lifeOf),
    },
    ...older,
    said: { ...said, asked },
  };
};

/** Shape 4 knew no request that waits for a template. */
const withImpossible = (state: Recovery): Recovery =>
  state.situation.is === 'asking' ? { ...state, situation: { ...state.situation, impossible: null } } : state;

/** Shape 5 knew not who had finished the task. */
const withFinished = (state: Recovery): Recovery => ({ ...{ finished: [] }, ...state });

/** Shape 6 kept a checkpoint as invalid everywhere that one host did not have, or could not read. */
const withoutHostMarks = (state: Recovery): Recovery => ({ ...state, checkpoints: state.checkpoints.map(onEveryHost) });

/** The task key space: who holds a task, and how it is put on a fresh agent. Its time comes from every partition of the evaluator. */
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
    upgrades: [same, same, from(raised), from(withImpossible), from(withFinished), from(withoutHostMarks)],
    usual: null,
  },
};
