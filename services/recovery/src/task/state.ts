import { type Breaker, closed } from '@vigil/circuit-breaker';
import type { CheckpointRef, HealthState, PolicyRef, ReleaseWhy, ReviewDecision, StallReason } from '@vigil/events';
import type { RecoverySettings } from '@vigil/policy';
import type { Absence } from '../checkpoints/checkpoints.ts';

/** One spawned agent. `number`: the attempt it is; `generation`: the breaker's when it was begun. */
export type Attempt = { readonly agentId: string; readonly number: number; readonly generation: number };

/** Who holds the task, as task-health tells. `since`: when we heard that it took it. */
export type Holder = {
  readonly agentId: string;
  readonly instanceId: string | null;
  readonly runtimeId: string | null;
  readonly state: HealthState;
  readonly since: number;
  readonly stall: StallReason | null;
  readonly idleMinutes: number | null;
  readonly contextUsagePct: number | null;
};

/** What RecoverTask says of the dead instance and of its work. */
export type Subject = {
  /** RecoverTask's event id: names requests and orders, so that they stay unique when the state has been forgotten */
  readonly cause: string;
  readonly correlationId: string;
  readonly policy: PolicyRef | null;
  readonly agentId: string;
  readonly instanceId: string | null;
  readonly caseId: string | null;
  readonly runtimeId: string | null;
  readonly reason: string;
  readonly completedWork: readonly string[];
  readonly remainingWork: readonly string[];
  /** the checkpoint saved at the end: the work above is as of this one */
  readonly checkpointId: string | null;
  readonly stall: StallReason | null;
  readonly idleMinutes: number | null;
  readonly contextUsagePct: number | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly settings: RecoverySettings;
};

/** A next attempt is meant. `immediate`: a person asked; `withheld`: how often the governor has said no; `why`: what the last one came to. */
type Next = {
  readonly immediate: boolean;
  readonly withheld: number;
  readonly why: string;
  /** the agent may live: it had taken the task again when its recovery was asked for. Decided when the wait is over; absent: it does not */
  readonly isDoubted?: boolean;
  /** until when, where a limit makes the wait longer; absent: the wait is all for the doubt */
  readonly doubtedUntil?: number;
  /** of the newest refusal; absent: none */
  readonly refusal?: string;
  /** the limit that the dead agent had reached holds until then, and RECOVERY_WAITING has not been emitted for it; absent: none, or it has */
  readonly limitedUntil?: number;
  /** RECOVERY_WAITING has been emitted for refusals */
  readonly isWaitingReported?: boolean;
};

/** No runtime has a template for the task: the governor keeps the request. `isSaid`: SPAWN_IMPOSSIBLE has been emitted. */
export type Impossible = { readonly reason: string; readonly isReported: boolean };

export type Review = {
  readonly decision: ReviewDecision;
  readonly by: string;
  readonly why: string;
  readonly at: number;
};

export type Situation =
  /** nobody asked, or recovery has no more to do with the task */
  | { readonly kind: 'idle' }
  /** until the back-off is over */
  | ({ readonly kind: 'waiting'; readonly dueAt: number } & Next)
  /** for the governor's ruling */
  | ({ readonly kind: 'requesting'; readonly requestId: string; readonly impossible: Impossible | null } & Next)
  | ({ readonly kind: 'admitted'; readonly requestId: string; readonly runtimeId: string; readonly at: number } & Next)
  /** over a limit that is not the task's own; about to be said */
  | { readonly kind: 'refused'; readonly why: string }
  /** the order is out; the first heartbeat is awaited, up to and including the deadline */
  | {
      readonly kind: 'spawning';
      readonly attempt: Attempt;
      readonly orderId: string;
      readonly runtimeId: string;
      readonly deadlineAt: number;
      readonly failed: { readonly at: number; readonly why: string } | null;
    }
  /** alive since; `failing`: how it falls short, null while it does well; `goneAt`: when it ended, absent: it has not, or the state is older */
  | {
      readonly kind: 'probation';
      readonly attempt: Attempt;
      readonly since: number;
      readonly failing: string | null;
      readonly goneAt?: number;
    }
  /** probation passed; `since`: from when it has been well without a break, null: it is not */
  | { readonly kind: 'stable'; readonly attempt: Attempt; readonly since: number | null }
  /** over a limit: a person decides */
  | { readonly kind: 'review'; readonly review: Review | null }
  /** there is nothing left to recover; about to be said */
  | { readonly kind: 'over'; readonly why: ReleaseWhy; readonly detail: string | null };

/** A life whose end was asked for: last at `at`, and how often. */
export type EndRequest = { readonly instance: string; readonly at: number; readonly times: number };

export type Healthcheck = { readonly status: string; readonly path: string | null; readonly action: string };

/** What is remembered of a task: some 500 bytes, and what its checkpoints say. */
export type Recovery = {
  readonly taskId: string;
  /** when anything was told of it last, epoch milliseconds; absent: the state is older than this */
  readonly observedAt?: number;
  readonly situation: Situation;
  readonly subject: Subject | null;
  /** spent; at most `subject.settings.maxAttempts + granted` */
  readonly attempts: number;
  /** attempts beyond the limit that a person allowed */
  readonly granted: number;
  /** agents spawned since the beginning: part of their names, not reset before the task is forgotten */
  readonly serial: number;
  /** requests made since the beginning, not reset before the task is forgotten */
  readonly requests: number;
  /** the first dead agent's id: the name of all that follow */
  readonly base: string;
  readonly breaker: Breaker;
  /** ended lives that were acted on, newest last */
  readonly dead: readonly string[];
  /** those of `dead` that took the task again since, taken for dead from afar: their next death is another */
  readonly revived: readonly string[];
  /** lives whose end was told as a loss from afar: of those alone it is certain that they live where they take the task again */
  readonly lost: readonly string[];
  /** spawned agents, newest last */
  readonly tried: readonly Attempt[];
  readonly holders: readonly Holder[];
  /** lives that took the task and have not left it alive, since it was last finished: the death of one of them is the task's matter */
  readonly takenBy: readonly string[];
  /** lives that had taken the task when it was finished, newest last: there is nothing of theirs to recover */
  readonly finished: readonly string[];
  /** the last holder's policy has seed 003's event written, also where nothing is recovered */
  readonly emitsHealthcheck: boolean;
  /** newest last */
  readonly checkpoints: readonly CheckpointRef[];
  /** checkpoints that were not found at a runtime, and may well be at another; newest last */
  readonly absent: readonly Absence[];
  /** runtimes at which a spawn came to nothing */
  readonly avoid: readonly string[];
  /** the request of an admission that is not used after all, until it is withdrawn */
  readonly unused: string | null;
  /** the life of an attempt in whose place people want a fresh one: its end is awaited */
  readonly endAwaited: string | null;
  /** for one call only; absent: none */
  readonly refusal?: Refusal | null;
  readonly emitted: {
    readonly breaker: Breaker['state'];
    readonly healthcheck: Healthcheck | null;
    /** lives whose end was asked for */
    readonly endRequests: readonly EndRequest[];
  };
};

/** What a person asked for, and why it does not follow. */
export type Refusal = {
  readonly agentId: string;
  readonly caseId: string | null;
  readonly by: string;
  readonly reason: string;
};

export const initial: Recovery = {
  taskId: '',
  situation: { kind: 'idle' },
  subject: null,
  attempts: 0,
  granted: 0,
  serial: 0,
  requests: 0,
  base: '',
  breaker: closed,
  dead: [],
  revived: [],
  lost: [],
  tried: [],
  holders: [],
  takenBy: [],
  finished: [],
  emitsHealthcheck: false,
  checkpoints: [],
  absent: [],
  avoid: [],
  unused: null,
  endAwaited: null,
  emitted: { breaker: 'CLOSED', healthcheck: null, endRequests: [] },
};

/** The most of anything that is remembered by the piece: holders, dead lives, attempts, checkpoints. */
const kept = 8;

export const remember = <T>(list: readonly T[], item: T): readonly T[] =>
  list.includes(item) ? list : [...list, item].slice(-kept);

export const attemptOf = (state: Recovery, agentId: string): Attempt | undefined =>
  state.tried.findLast((attempt) => attempt.agentId === agentId);

/** How many attempts the task has in all. */
export const limitOf = (state: Recovery, subject: Subject): number => subject.settings.maxAttempts + state.granted;

export const isBad = (state: HealthState): boolean => state === 'STUCK' || state === 'FAILING';

/** The task needs no spawn any more: what was asked for, or admitted, returns to its budget. */
export const notUsed = (state: Recovery): Recovery => {
  const { situation } = state;
  return situation.kind === 'requesting' || situation.kind === 'admitted'
    ? { ...state, unused: situation.requestId }
    : state;
};
