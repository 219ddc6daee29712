import { type Breaker, closed } from '@vigil/circuit-breaker';
import type { HealthState, PolicyRef, ReleaseWhy, ReviewDecision, StallReason } from '@vigil/events';
import type { RecoverySettings } from '@vigil/policy';
import type { Absence, CheckpointVersion, KnownCheckpoint } from '../checkpoints/checkpoints.ts';

/** One spawned agent. `number`: the attempt it is; `generation`: the breaker's when it was begun. */
export type Attempt = { readonly agentId: string; readonly number: number; readonly generation: number };

/** An agent that has the task, from task-health. `since`: when that was received. */
export type Assignee = {
  readonly agentId: string;
  readonly instanceId: string | null;
  readonly runtimeId: string | null;
  /** the gateway accepts its heartbeats by a token */
  readonly verified: boolean;
  readonly state: HealthState;
  readonly since: number;
  readonly stall: StallReason | null;
  readonly idleMinutes: number | null;
  readonly contextUsagePct: number | null;
};

/** What RecoverTask reports about the dead instance and its work. */
export type Subject = {
  /** RecoverTask's event id: names requests and orders, so that they stay unique after the state has been forgotten */
  readonly cause: string;
  readonly correlationId: string;
  readonly policy: PolicyRef | null;
  readonly agentId: string;
  readonly instanceId: string | null;
  readonly caseId: string | null;
  readonly runtimeId: string | null;
  readonly reason: string;
  /** the last lines that it printed; absent: the state is older than this */
  readonly lastOutput?: readonly string[];
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

/**
 * The next attempt is planned. `immediate`: a person requested it; `withheld`: how often the governor withheld it; `why`: how the last one
 * ended.
 */
type Next = {
  readonly immediate: boolean;
  readonly withheld: number;
  readonly why: string;
  /** the agent may live: it had taken the task again when its recovery was requested. Decided after the wait; absent: it does not */
  readonly isDoubted?: boolean;
  /** the last one ended by itself; absent: an order ended it, it did not start, or the state is older than this */
  readonly endedByItself?: true;
  /** until when, where a limit makes the wait longer; absent: the whole wait is for the doubt */
  readonly doubtedUntil?: number;
  /** of the newest refusal; absent: none */
  readonly refusal?: string;
  /** the limit that the dead agent had reached holds until then, and RECOVERY_WAITING has not been emitted for it; absent: none, or it has */
  readonly limitedUntil?: number;
  /** RECOVERY_WAITING has been emitted for refusals */
  readonly isWaitingReported?: boolean;
};

/** No runtime has a template for the task: the governor keeps the request. `isReported`: SPAWN_IMPOSSIBLE has been emitted. */
export type Impossible = { readonly reason: string; readonly isReported: boolean };

export type Review = {
  readonly decision: ReviewDecision;
  readonly by: string;
  readonly why: string;
  readonly at: number;
};

export type Situation =
  /** no request, or recovery has finished with the task */
  | { readonly kind: 'idle' }
  /** until the back-off is over */
  | ({ readonly kind: 'waiting'; readonly dueAt: number } & Next)
  /** for the governor's ruling */
  | ({ readonly kind: 'requesting'; readonly requestId: string; readonly impossible: Impossible | null } & Next)
  | ({ readonly kind: 'admitted'; readonly requestId: string; readonly runtimeId: string; readonly at: number } & Next)
  /** over a limit that is not the task's own; to be reported next */
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
  /** alive since; `failing`: how it falls short, null while it does well; `goneAt`: when it ended, absent: it has not */
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
  /** there is nothing left to recover; to be reported next */
  | { readonly kind: 'over'; readonly why: ReleaseWhy; readonly detail: string | null };

/** An instance whose end was requested: last at `at`, and how often. */
export type EndRequest = { readonly instance: string; readonly at: number; readonly times: number };

export type Healthcheck = { readonly status: string; readonly path: string | null; readonly action: string };

/** A checkpoint that an agent reports. `verified`: the gateway accepted it by a token. */
export type Claim = { readonly agentId: string; readonly verified: boolean; readonly checkpoint: KnownCheckpoint };

/** What is kept of a task: some 500 bytes, and its checkpoints. */
export type Recovery = {
  readonly taskId: string;
  /** when the last input about it was observed, epoch milliseconds; absent: none was */
  readonly observedAt?: number;
  readonly situation: Situation;
  readonly subject: Subject | null;
  /** used; at most `subject.settings.maxAttempts + granted` */
  readonly attempts: number;
  /** attempts beyond the limit that a person allowed */
  readonly granted: number;
  /** the newest checkpoint when the last dead agent was acted on; null: there was none */
  readonly checkpointAtDeath: CheckpointVersion | null;
  /** agents spawned since the beginning: part of their names, not reset before the task is forgotten */
  readonly serial: number;
  /** requests made since the beginning, not reset before the task is forgotten */
  readonly requests: number;
  /** the first dead agent's id: the name of all that follow */
  readonly base: string;
  readonly breaker: Breaker;
  /** dead instances that were acted on, newest last */
  readonly dead: readonly string[];
  /** those of `dead` that have taken the task again, since they were taken for dead: their next death is another one */
  readonly revived: readonly string[];
  /** instances whose end was reported as a loss: only these are certain to live when they take the task again */
  readonly lost: readonly string[];
  /** spawned agents, newest last */
  readonly tried: readonly Attempt[];
  /** spawned agents that have not taken the task yet, newest last: their spawn may have been given up, and they may still begin */
  readonly unseen: readonly string[];
  readonly assignees: readonly Assignee[];
  /** of those that have had the task for longest, the newest; absent: none was seen, or the state is older than this */
  readonly lastAssignee?: Pick<Assignee, 'agentId' | 'verified'>;
  /** instances that took the task and have not left it alive since it was last finished: their deaths concern the task */
  readonly takenBy: readonly string[];
  /** instances that had taken the task when it was finished, newest last: they have nothing to recover */
  readonly finished: readonly string[];
  /** the last assignee's policy emits omniclaude's event, also where nothing is recovered */
  readonly emitsHealthcheck: boolean;
  /** newest last */
  readonly checkpoints: readonly KnownCheckpoint[];
  /** of agents that may not write checkpoints of the task yet, newest last: they count when it is known that they may */
  readonly claims: readonly Claim[];
  /** checkpoints that a runtime did not find, and another one may have; newest last */
  readonly absent: readonly Absence[];
  /** runtimes at which a spawn has failed */
  readonly avoid: readonly string[];
  /** the request of an unused admission, until it is withdrawn */
  readonly unused: string | null;
  /** the instance that a new agent is to replace: recovery waits for its end */
  readonly endAwaited: string | null;
  readonly emitted: {
    readonly breaker: Breaker['state'];
    readonly healthcheck: Healthcheck | null;
    /** instances whose end was requested */
    readonly endRequests: readonly EndRequest[];
  };
};

export const initial: Recovery = {
  taskId: '',
  situation: { kind: 'idle' },
  subject: null,
  attempts: 0,
  granted: 0,
  checkpointAtDeath: null,
  serial: 0,
  requests: 0,
  base: '',
  breaker: closed,
  dead: [],
  revived: [],
  lost: [],
  tried: [],
  unseen: [],
  assignees: [],
  takenBy: [],
  finished: [],
  emitsHealthcheck: false,
  checkpoints: [],
  claims: [],
  absent: [],
  avoid: [],
  unused: null,
  endAwaited: null,
  emitted: { breaker: 'CLOSED', healthcheck: null, endRequests: [] },
};

/** The most assignees, dead instances, attempts or checkpoints that are kept. */
const KEPT = 8;

export const remember = <T>(list: readonly T[], item: T): readonly T[] =>
  list.includes(item) ? list : [...list, item].slice(-KEPT);

export const attemptOf = (state: Recovery, agentId: string): Attempt | undefined =>
  state.tried.findLast((attempt) => attempt.agentId === agentId);

/** How many attempts the task has in all. */
export const limitOf = (state: Recovery, subject: Subject): number => subject.settings.maxAttempts + state.granted;

/** The reason of a failed recovery, for people. */
export const probationFailure = (attempt: number, why: string): string =>
  `attempt ${attempt} failed its probation: ${why}`;

export const isBad = (state: HealthState): boolean => state === 'STUCK' || state === 'FAILING';

/** The task no longer needs a spawn: its request or admission returns to the budget. */
export const notUsed = (state: Recovery): Recovery => {
  const { situation } = state;
  return situation.kind === 'requesting' || situation.kind === 'admitted'
    ? { ...state, unused: situation.requestId }
    : state;
};
