import type {
  AgentControl,
  AnswerKind,
  EscalationTicket,
  HealthState,
  Place,
  PolicyRef,
  TicketSeverity,
} from '@vigil/events';
import type { SpendingLimit } from '@vigil/policy';
import { type History, INITIAL_HISTORY } from '../history/history.ts';

/** An answer of an agent that is not announced yet. */
export type Answer = { readonly how: AnswerKind; readonly nonce: string | null; readonly text: string | null };

/** A person's request to close a breaker that its caller holds, not yet announced. */
export type Reset = {
  readonly name: string;
  readonly by: string;
  readonly why: string;
  readonly correlationId: string;
};

/** What became of a person's hold or release, not yet announced. `refused`: the reason; null: it has taken effect. */
export type HoldAnswer = {
  readonly held: boolean;
  readonly until: number | null;
  readonly by: string;
  readonly why: string;
  readonly refused: string | null;
  readonly correlationId: string;
};

/**
 * What became of another command about the agent, not yet announced. `refused`: the reason; null: it has taken effect.
 * `groupId`: the first of `of` commands that were written at once; null: it is alone.
 */
export type ControlAnswer = {
  readonly control: AgentControl;
  readonly by: string;
  readonly why: string;
  readonly groupId: string | null;
  readonly of: number;
  readonly refused: string | null;
  readonly correlationId: string;
};

/** Counts the records of an older instance since `from`. More than three in a minute mean that two run at once. */
export type Stragglers = {
  readonly instanceId: string;
  readonly count: number;
  readonly from: number;
  readonly announced: boolean;
};

/** A warrant in force. */
export type Warrant = {
  readonly id: string;
  readonly instanceId: string | null;
  readonly episodeId: string;
  readonly plan: string;
  readonly state: HealthState;
  /** the awaited progress, as one text; an older state has none, and renews at once */
  readonly awaits: string;
  /** the wait that suspends its plan; absent: none does */
  readonly suspendedBy?: string;
  /** the lease: the warrant is void at this time without a renewal */
  readonly voidAt: number;
};

export type AnnouncedBreaker = { readonly state: 'OPEN' | 'HALF_OPEN'; readonly taskId: string | null };

type Severity = Exclude<TicketSeverity, 'UNKNOWN'>;

export type AnnouncedTicket = {
  readonly severity: Severity;
  readonly instanceNumber: number;
  readonly episodeId: string | null;
  /** the worst severity that was filed while nothing excused the agent; null: none; absent: `severity` */
  readonly unexcused?: Severity | null;
  /** when a ticket of a severity was first filed while something excused the agent, on `now`'s axis; absent: none was */
  readonly dismissedAt?: Dismissals;
};

export type Dismissals = { readonly [severity in Severity]?: number };

/** An announced wait, with its task; `at`: the start of the wait, on `now`'s axis. */
export type AnnouncedWait = {
  readonly instanceId: string | null;
  readonly taskId: string | null;
  readonly instanceNumber: number;
  readonly at: number;
};

/**
 * The tokens and US dollars of an instance that are counted against a limit, for each of its last counts (the newest
 * last), and that limit.
 */
export type Counted = {
  readonly counts: readonly { readonly count: number; readonly tokens: number; readonly usd: number }[];
  readonly limit: SpendingLimit;
};

/** The announced facts, so that nothing is announced twice. */
export type Announced = {
  /** the number of the announced instance */
  readonly instanceNumber: number;
  readonly state: HealthState;
  /** the task with which a state other than HEALTHY was announced */
  readonly stateTaskId?: string | null;
  readonly exemption: string | null;
  /** the wait for a person that was announced as overdue */
  readonly wait: AnnouncedWait | null;
  /** from leaving HEALTHY to returning, or to the instance's end */
  readonly episode: { readonly id: string; readonly correlationId: string } | null;
  readonly warrant: Warrant | null;
  /** episodes and warrants so far: makes their ids */
  readonly issued: number;
  /** the number of the instance that was announced as present; 0: none */
  readonly presentInstance: number;
  /**
   * the start of its presence, and when that is announced again, on `now`'s axis; the topic does not keep events for
   * ever
   */
  readonly presentSince: number;
  readonly presentUntil: number;
  /** where it was announced as present; absent: where it is by its last heartbeat, or it was not */
  readonly presentPlace?: Place;
  /** the number of the instance that was announced as lost in silence, and not as ended; 0: none */
  readonly lostInstance: number;
  /** the breakers that are not closed, with the task of their announcement */
  readonly breakers: Readonly<Record<string, AnnouncedBreaker>>;
  /** the worst severity in the episode of filing; episode null: filed outside an episode */
  readonly ticket: AnnouncedTicket | null;
  /** the number of the instance whose clock was announced as off; absent: none was, or it is over */
  readonly clock?: { readonly instanceNumber: number };
  readonly task: { readonly taskId: string; readonly instanceId: string | null; readonly state: HealthState } | null;
  /** of the instance with that number; absent if nothing is announced yet */
  readonly spent?: { readonly instanceNumber: number } & { readonly [scope in 'agent' | 'task' | 'day']?: Counted };
};

export type KnownAgent = {
  readonly kind: 'known';
  readonly agentId: string;
  /** the policy it is judged with */
  readonly policy: PolicyRef;
  /** the policy that it requests, as last reported */
  readonly requestedPolicy: string | null;
  /** shown, never judged */
  readonly excluded: boolean;
  /** the history of the current instance, and its number */
  readonly history: History;
  readonly instanceNumber: number;
  readonly previousInstanceId: string | null;
  /** whether it has replaced an instance of a runtime without a reported end */
  readonly displacing: boolean;
  /** the last instances before the current, the newest last */
  readonly retired: readonly string[];
  readonly stragglers: Stragglers | null;
  /**
   * the mark since which each heartbeat is beyond the clock tolerance of its policy; absent: the last one is not. An
   * older state has a time of `now`'s axis here: that is later, so its minute ends later.
   */
  readonly clockOffSince?: number;
  readonly answers: readonly Answer[];
  readonly resets: readonly Reset[];
  /** absent: each is announced */
  readonly holds?: readonly HoldAnswer[];
  /** absent: each is announced */
  readonly controls?: readonly ControlAnswer[];
  /** hash of the last textual answer: the same text again is not a new answer */
  readonly answered: number;
  /** filed by a person or a program, not yet announced */
  readonly tickets: readonly EscalationTicket[];
  readonly announced: Announced;
};

/** The evaluator's state of one agent. */
export type AgentState = { readonly kind: 'unseen' } | KnownAgent;

export const UNSEEN: AgentState = { kind: 'unseen' };

export const NOTHING_ANNOUNCED: Announced = {
  instanceNumber: 0,
  state: 'HEALTHY',
  exemption: null,
  wait: null,
  episode: null,
  warrant: null,
  issued: 0,
  presentInstance: 0,
  presentSince: 0,
  presentUntil: 0,
  lostInstance: 0,
  breakers: {},
  ticket: null,
  task: null,
};

/** The policy of a state before one is assigned. */
const UNASSIGNED: PolicyRef = { name: '', hash: '' };

/** An agent with its first instance, before anything is announced. */
export const firstInstance = (agentId: string, history: History): KnownAgent => ({
  kind: 'known',
  agentId,
  policy: UNASSIGNED,
  requestedPolicy: null,
  excluded: false,
  history,
  instanceNumber: 1,
  previousInstanceId: null,
  displacing: false,
  retired: [],
  stragglers: null,
  answers: [],
  resets: [],
  answered: 0,
  tickets: [],
  announced: NOTHING_ANNOUNCED,
});

const FIRST = firstInstance('', INITIAL_HISTORY);
/** The state of a healthy agent that reports only required fields. Fields that equal these are omitted at rest. */
export const USUAL: KnownAgent = { ...FIRST, announced: { ...FIRST.announced, instanceNumber: 1, presentInstance: 1 } };

type FiledTickets = {
  readonly severity: Severity;
  readonly unexcused: Severity | null;
  readonly dismissedAt: Dismissals;
};

/**
 * The worst severities that were filed in the present episode: of all, and while nothing excused the agent; and the
 * dismissed ones. A ticket that is filed outside an episode counts until the instance ends. Null: none was filed.
 */
export const filedInEpisode = ({ instanceNumber, announced: { ticket, episode } }: KnownAgent): FiledTickets | null => {
  if (ticket === null || ticket.instanceNumber !== instanceNumber) return null;
  if (ticket.episodeId !== null && ticket.episodeId !== (episode?.id ?? null)) return null;
  const { severity, unexcused = severity, dismissedAt = {} } = ticket;
  return { severity, unexcused, dismissedAt };
};
