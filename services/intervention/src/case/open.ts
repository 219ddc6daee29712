import type {
  CheckpointRef,
  ClientReport,
  Evidence,
  HealthState,
  PolicyRef,
  RecoverySettings,
  WarrantFiledPayload,
  WithheldWhy,
} from '@vigil/events';
import type { PlannedStep } from '@vigil/policy';

export type Ending = 'recovered' | 'pardoned' | 'superseded' | 'expired' | 'executed' | 'failed' | 'withheld';

/** What opens a case, and all that the case needs to know of it: a warrant, or a person's request. */
export type Matter = {
  readonly caseId: string;
  /** null: a person's request */
  readonly warrantId: string | null;
  /** who asked by hand, or decided to terminate and recover */
  readonly by: string | null;
  readonly agentId: string;
  readonly instanceId: string | null;
  readonly runtimeId: string | null;
  readonly taskId: string | null;
  /** the matter of a case that was open before this was kept has none */
  readonly attempt?: number | null;
  readonly episodeId: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly state: HealthState;
  readonly axes: readonly string[];
  /** what ends the finding, for the hands: the orders carry it on */
  readonly awaits: WarrantFiledPayload['awaits'];
  readonly hard: boolean;
  readonly foldedSequence: number | null;
  /** the lease, epoch milliseconds; null: none (by hand) */
  readonly voidAt: number | null;
  readonly planName: string;
  readonly steps: readonly PlannedStep[];
  /** handed on as it is */
  readonly recovery: RecoverySettings;
  /** for people: the evidence in words, or why somebody asked */
  readonly reason: string;
  /** emptied when the case is open: CASE_OPENED has said it */
  readonly evidence: readonly Evidence[];
  readonly checkpoint: CheckpointRef | null;
  /** the coding agent that runs as this agent; null: none that is known. The matter of a case that was open before this was kept has none */
  readonly client?: ClientReport | null;
  /** since the last checkpoint; null: a person asked */
  readonly workedMinutes: number | null;
  /** for the agent: what was found, and what it can do; empty: a person asked */
  readonly finding: string;
  readonly advice: string;
  readonly idleMinutes: number | null;
  readonly contextUsagePct: number | null;
  /** when the limit ends that the agent reported last; null: none, absent: the case is older than this */
  readonly limitedUntil?: number | null;
  /** the instance had ended when the matter was found */
  readonly ended: boolean;
  readonly correlationId: string;
  readonly policy: PolicyRef | null;
};

/** What is known of an instance's death: from the receipt of a terminate, or from its end as agent-health reports it. */
export type Death = {
  readonly forced: boolean;
  readonly checkpoint: CheckpointRef | null;
  readonly completedWork: readonly string[];
  readonly remainingWork: readonly string[];
  readonly claimsReleased: readonly string[];
  readonly forensics: string | null;
};

/** How an instance ended, as agent-health reports it. `orderId`: the order that ended it; null: none did. */
/** `isReported`: false where the evaluator only infers it from a long silence, which confirms no death. */
export type InstanceEnd = {
  readonly reason: string | null;
  readonly orderId: string | null;
  readonly isReported: boolean;
};

/** The receipt that moves a terminate: anything but delivered and answered. */
export type TerminateReceipt = {
  readonly outcome: 'done' | 'superseded' | 'expired' | 'uncertain' | 'failed';
  readonly confirmed: boolean;
  readonly why: string | null;
  readonly death: Death;
};

/** Why the governor does not admit a step yet. It keeps the request, and admits it when the reason is over. */
export type Withheld = { readonly why: WithheldWhy; readonly detail: string };

/** Where the current step stands. `withheld`: what the case has announced; null: nothing is withheld. */
export type Work =
  | { readonly at: 'turn' }
  | { readonly at: 'asked'; readonly requestId: string; readonly withheld: Withheld | null }
  /** until null: for ever */
  | { readonly at: 'escalated'; readonly until: number | null; readonly options: readonly string[] }
  | {
      readonly at: 'terminating';
      readonly orderId: string;
      readonly until: number;
      readonly receipt: TerminateReceipt | null;
      /** the instance's end as agent-health has reported it; null: it has not */
      readonly ended: InstanceEnd | null;
    };

/** Which step it is: to tell other people, or to give the agent another text, is another step. */
export const stepKey = (step: PlannedStep): string => {
  if (step.step === 'alert') return `alert ${step.channel ?? ''} ${step.severity}`;
  return step.step === 'nudge' ? `nudge ${step.message}` : step.step;
};

/** A step that acts on the agent, or alerts. People are asked about the worse state, and a pause or a resume has waits of its own. */
const DONE_ONCE: ReadonlySet<PlannedStep['step']> = new Set([
  'alert',
  'nudge',
  'interrogate',
  'interrupt',
  'handoff',
  'terminate',
]);

/** It was done under a plan that a worse one has replaced: it is not done again. */
export const isDoneBefore = ({ doneBefore }: Open, step: PlannedStep): boolean =>
  DONE_ONCE.has(step.step) && (doneBefore ?? []).includes(stepKey(step));

/** Attempts of the current step, and when the last was ordered. */
export type Attempt = {
  readonly sent: number;
  readonly lastAt: number;
  /** the order of an interrupt or a resume; `isUndone`: its runtime could not do it. Null: none */
  readonly order: {
    readonly orderId: string;
    readonly isUndone: boolean;
    /** of a resume: when the session had been resumed before; absent: never, or the state is older than this */
    readonly resumedBefore?: number | null;
  } | null;
};

export const notBegun: Attempt = { sent: 0, lastAt: 0, order: null };

/**
 * A text that was ordered in this case. `open`: its runtime has not reported, or the agent progressed before it was due.
 * `undelivered`: it expired, could not be delivered, or nothing confirms that the agent has it.
 */
export type Nudged = {
  readonly orderId: string;
  readonly outcome: 'open' | 'delivered' | 'undelivered';
  /** until when its receipt may come, epoch milliseconds; absent: it has come, or the state is older than this */
  readonly receiptUntil?: number;
};

export type Decision = { readonly what: 'terminate_and_recover' | 'force_handoff'; readonly until: number };

/** A case that is being worked. */
export type Open = {
  readonly matter: Matter;
  /** when its first ruling was given: nothing that it does is earlier */
  readonly openedAt: number;
  /** names of the plans that it has followed, the current one last */
  readonly plans: readonly string[];
  /** the current step of matter.steps */
  readonly index: number;
  readonly work: Work;
  readonly attempt: Attempt;
  /** the steps that have been done, by what they were to do (`stepKey`) */
  readonly done: readonly string[];
  readonly nudges: readonly Nudged[];
  /** those of `done` that were done before the present plan; absent: none, or the state is older than this */
  readonly doneBefore?: readonly string[];
  /** the newest order to hand off; absent: none was given, or the state is older than this */
  readonly handoff?: string | null;
  readonly escalated: boolean;
  readonly answered: boolean;
  /** what people have decided, and until when it may be begun, epoch milliseconds; absent: nothing, or the state is older than this */
  readonly decision?: Decision | null;
  /** nothing moves before `until`; 0: no wait */
  readonly moreTime: { readonly times: number; readonly until: number };
  /** a ruling came late: the next is asked for from then on; 0: no wait */
  readonly askAgainAt: number;
  /** an order holds the agent: until when, epoch milliseconds; it is set going again whatever becomes of the case */
  readonly paused: { readonly until: number } | null;
  /** when the instance's session was last resumed by order, epoch milliseconds; null: never */
  readonly resumedAt: number | null;
  readonly dryRun: boolean;
  /** null: alive, as far as anybody has confirmed */
  readonly death: Death | null;
  /** an admission that is no longer wanted */
  readonly withdrawing: string | null;
  readonly ending: { readonly ending: Ending; readonly why: string } | null;
};

/**
 * Where a case stood in its plan when a request by hand took its place: the next case on the same plan goes on from there.
 * `step`: the name of that step, empty behind the last.
 */
export type Stood = { readonly planName: string; readonly step: string } & Pick<
  Open,
  'index' | 'attempt' | 'done' | 'nudges' | 'doneBefore' | 'escalated'
> & {
    /** absent: none was given, or the state is older than this */
    readonly moreTime?: Open['moreTime'];
    /** the question that people have not answered; absent: none */
    readonly question?: Question;
  };

export type Question = { readonly until: number | null; readonly options: readonly string[] };

/** A question whose time is not over is put again, since a decision names the case that is open; its deadline stays. */
export const asksAgain = ({ question }: Stood, at: number): Question | null =>
  question && (question.until === null || question.until > at) ? question : null;

/** Before then no step moves. */
export const standsUntil = ({ moreTime, askAgainAt }: Open): number => Math.max(moreTime.until, askAgainAt);

type Opening = {
  readonly dryRun: boolean;
  readonly openedAt: number;
  readonly stood: Stood | null;
  readonly resumedAt: number | null;
};

export const opened = (matter: Matter, { dryRun, openedAt, stood, resumedAt }: Opening): Open => ({
  matter: { ...matter, evidence: [] },
  openedAt,
  plans: [matter.planName],
  index: stood?.index ?? 0,
  work: stood?.question && !asksAgain(stood, openedAt) ? { at: 'escalated', ...stood.question } : { at: 'turn' },
  attempt: stood?.attempt ?? notBegun,
  done: stood?.done ?? [],
  nudges: stood?.nudges ?? [],
  doneBefore: stood?.doneBefore ?? [],
  handoff: null,
  escalated: stood?.escalated ?? false,
  answered: false,
  decision: null,
  moreTime: stood?.moreTime ?? { times: 0, until: 0 },
  askAgainAt: 0,
  paused: null,
  resumedAt,
  dryRun,
  death: matter.ended ? aliveNoMore(matter) : null,
  withdrawing: null,
  ending: null,
});

/** A death of which only the end is known: the work is what the matter's checkpoint says. */
export const aliveNoMore = ({ checkpoint }: Matter): Death => ({
  forced: false,
  checkpoint,
  completedWork: checkpoint?.completedWork ?? [],
  remainingWork: checkpoint?.remainingWork ?? [],
  claimsReleased: [],
  forensics: null,
});
