import { onEveryHost } from '@vigil/events';
import type { Upgrade } from '@vigil/stream';
import { instanceKey } from './task/instances.ts';
import type { Recovery } from './task/state.ts';

/** Fields of a task's state that had another name before. */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ['asked', 'endRequests'],
  ['emits', 'emitsHealthcheck'],
  ['heardAt', 'observedAt'],
  ['holders', 'assignees'],
  ['is', 'kind'],
  ['isSaid', 'isReported'],
  ['isWaitingSaid', 'isWaitingReported'],
  ['life', 'instance'],
  ['risen', 'revived'],
  ['said', 'emitted'],
  ['took', 'takenBy'],
  ['unwanted', 'endAwaited'],
]);

/** Fields that hold what other services have written: their names stay. */
const OF_OTHERS: ReadonlySet<string> = new Set(['checkpoints', 'labels', 'policy', 'settings']);

const withNames = (part: unknown, field = ''): unknown => {
  if (field === 'kind' && part === 'asking') return 'requesting';
  if (OF_OTHERS.has(field) || part === null || typeof part !== 'object') return part;
  if (Array.isArray(part)) return part.map((one) => withNames(one));
  return Object.fromEntries(
    Object.entries(part).map(([name, one]) => {
      const renamed = RENAMED.get(name) ?? name;
      return [renamed, withNames(one, renamed)];
    }),
  );
};

/** Upgrades a state whose shape left out nothing and may have the names of before. */
const from = <Older>(to: (state: Older) => unknown): Upgrade => ({
  usual: null,
  to: (state) => to(withNames(state) as Older),
});

const same = from((state: Recovery) => state);

type Later = 'unused' | 'emitsHealthcheck' | 'revived' | 'takenBy' | 'lost' | 'endAwaited' | 'absent' | 'finished';
type Emitted = Recovery['emitted'];
type Shape3 = Omit<Recovery, Later | 'emitted'> &
  Partial<Pick<Recovery, Later>> & {
    readonly emitted: Omit<Emitted, 'endRequests'> & { readonly ended: readonly string[] };
  };

/**
 * Shape 1 had neither unused admissions nor `emitsHealthcheck`, shape 2 had no revived instances. Shape 3 had the assignees, but not which
 * agents had taken the task, were lost, or are to be ended. It had no time for a requested end, and no checkpoint that is missing on one host.
 */
const fromShape3 = (older: Shape3): unknown => {
  const { ended, ...emitted } = older.emitted;
  const endRequests = ended.map((instance) => ({ instance, at: 0, times: 1 }));
  return {
    ...{
      unused: null,
      endAwaited: null,
      emitsHealthcheck: false,
      revived: [],
      lost: [],
      absent: [],
      takenBy: older.assignees.map(instanceKey),
    },
    ...older,
    emitted: { ...emitted, endRequests },
  };
};

/** Shape 4 had no request that waits for a template. */
const withImpossible = (state: Recovery): Recovery =>
  state.situation.kind === 'requesting' ? { ...state, situation: { ...state.situation, impossible: null } } : state;

/** Shape 5 did not keep which instances had finished the task. */
const withFinished = (state: Recovery): Recovery => ({ ...{ finished: [] }, ...state });

/** Shape 6 kept a checkpoint as invalid on all hosts where one host did not have it, or could not read it. */
const withoutHostMarks = (state: Recovery): Recovery => ({ ...state, checkpoints: state.checkpoints.map(onEveryHost) });

/** From each shape to the next; shape 7 differs from the present one in names only. */
export const upgrades: readonly Upgrade[] = [
  same,
  same,
  from(fromShape3),
  from(withImpossible),
  from(withFinished),
  from(withoutHostMarks),
  same,
];
