import type { WithheldWhy } from '@vigil/events';
import type { PlannedStep } from '@vigil/policy';
import { NEVER } from '@vigil/stream';
import { type CaseContext, type Death, deathByEnd, type InstanceEnd } from './case-context.ts';

export type Ending = 'recovered' | 'pardoned' | 'superseded' | 'expired' | 'executed' | 'failed' | 'withheld';

/** The receipt that moves a terminate: anything but delivered and answered. */
export type TerminateReceipt = {
  readonly outcome: 'done' | 'superseded' | 'expired' | 'uncertain' | 'failed';
  readonly confirmed: boolean;
  readonly why: string | null;
  readonly death: Death;
};

/** Why the governor withholds a step. It keeps the request and admits it when the reason is over. */
export type Withheld = { readonly why: WithheldWhy; readonly detail: string };

/** The progress of the current step. `withheld`: the announced reason; null: the step is not withheld. */
export type StepState =
  | { readonly kind: 'turn' }
  | { readonly kind: 'asked'; readonly requestId: string; readonly withheld: Withheld | null }
  | (Question & { readonly kind: 'escalated' })
  | {
      readonly kind: 'terminating';
      readonly orderId: string;
      readonly until: number;
      readonly receipt: TerminateReceipt | null;
      /** the instance's end as agent-health has reported it; null: it has not */
      readonly ended: InstanceEnd | null;
    };

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

/** What a runtime has reported of a text or a handoff by hand. `undelivered` null: the agent has it, or may have it. */
export type Delivery = {
  readonly undelivered: Extract<Ending, 'superseded' | 'expired' | 'failed'> | null;
  readonly why: string | null;
};

/**
 * How long a person's decision, or a handoff that the agent has asked for, may wait for its admission, milliseconds: the usual limit for an answer. They
 * decided about the agent as it was. After a halt of hours it may be healthy, and its end would surprise.
 */
export const FRESH_MS = 15 * 60_000;

export type Decision = { readonly kind: 'terminate_and_recover' | 'force_handoff'; readonly until: number };

/** What an agent has answered in an episode: its own words, the newest of each kind. */
export type Answers = {
  readonly handoff: string | null;
  readonly blockers: string | null;
  /** when a wait for its answer began again, once an episode, epoch milliseconds; null: none has */
  readonly restartedAt: number | null;
};

export const unanswered: Answers = { handoff: null, blockers: null, restartedAt: null };

/** A case that is being worked. */
export type ActiveCase = {
  readonly caseContext: CaseContext;
  /** when its first ruling was given: nothing that it does is earlier */
  readonly openedAt: number;
  /** names of the plans that it has followed, the current one last */
  readonly plans: readonly string[];
  /** the current step of caseContext.steps */
  readonly index: number;
  readonly stepState: StepState;
  readonly attempt: Attempt;
  /** the steps that have been done, by what they were to do (`stepKey`) */
  readonly done: readonly string[];
  readonly nudges: readonly Nudged[];
  /** those of `done` that were done before the present plan; absent: none, or the state is older than this */
  readonly doneBefore?: readonly string[];
  /** the newest order to hand off; absent: none was given, or the state is older than this */
  readonly handoff?: string | null;
  /** of the order of a request by hand; absent: no receipt has come, or the state is older than this */
  readonly delivery?: Delivery;
  readonly escalated: boolean;
  readonly answered: boolean;
  readonly answers: Answers;
  /** whether people are asked once more, for words that came after their question: `due`: it is to be put */
  readonly reminder: 'none' | 'due' | 'sent';
  /** the agent has asked for a handoff itself: until when it may begin, epoch milliseconds; null: it has not */
  readonly handoffAsked: { readonly until: number } | null;
  /** what people have decided, and until when it may be begun, epoch milliseconds; absent: nothing, or the state is older than this */
  readonly decision?: Decision | null;
  /** nothing moves before `until`; 0: no wait */
  readonly moreTime: { readonly times: number; readonly until: number };
  /** since when the plan is suspended, because the agent waits, epoch milliseconds; absent: it does not */
  readonly suspendedAt?: number;
  /** a ruling came late: the next is asked for from then on; 0: no wait */
  readonly askAgainAt: number;
  /** an order holds the agent: until when, epoch milliseconds; it is set going again after any outcome of the case */
  readonly paused: { readonly until: number } | null;
  /** when the instance's session was last resumed by order, epoch milliseconds; null: never */
  readonly resumedAt: number | null;
  readonly dryRun: boolean;
  /** null: alive, as far as is confirmed */
  readonly death: Death | null;
  /** an admission that the case does not need any more */
  readonly withdrawing: string | null;
  readonly ending: { readonly ending: Ending; readonly why: string } | null;
};

/**
 * Where a case stood in its plan when a request by hand took its place: the next case on the same plan continues from there.
 * `step`: the name of that step, empty behind the last.
 */
export type ResumePoint = { readonly planName: string; readonly step: string } & Pick<
  ActiveCase,
  'index' | 'attempt' | 'done' | 'nudges' | 'doneBefore' | 'escalated'
> & {
    /** absent: none was given, or the state is older than this */
    readonly moreTime?: ActiveCase['moreTime'];
    /** the question that people have not answered; absent: none */
    readonly question?: Question;
  };

/** What people have been asked. */
export type Question = {
  /** when the plan continues without them; null: never */
  readonly until: number | null;
  /** the deadline that they were given, under `on_timeout: hold` too; absent: `until`, or the state is older than this */
  readonly deadlineAt?: number | null;
  readonly options: readonly string[];
  /** why they are asked, if not for the finding's own reason */
  readonly reason?: string;
  /** they have given more time: the question is over until it is put again; absent: they have not, or the state is older than this */
  readonly isAnswered?: true;
};

/** The deadline that people were given; null: none. */
export const deadlineOf = ({ until, deadlineAt = until }: Question): number | null => deadlineAt;

export const notBegun: Attempt = { sent: 0, lastAt: 0, order: null };

export const stepName = ({ caseContext, index }: ActiveCase): PlannedStep['step'] =>
  caseContext.steps[index]?.step ?? 'UNKNOWN';

/** The identity of a step: one that notifies other people, or gives the agent another text, is another step. */
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
export const isDoneBefore = ({ doneBefore }: ActiveCase, step: PlannedStep): boolean =>
  DONE_ONCE.has(step.step) && (doneBefore ?? []).includes(stepKey(step));

/** A question whose time is not over is put again, since a decision names the case that is open; its deadline stays. */
export const asksAgain = ({ question }: ResumePoint, at: number): Question | null =>
  question && (question.until === null || question.until > at) ? question : null;

/** The same question with a deadline that is not before `at`. One without a deadline keeps none. */
export const laterQuestion = <One extends Question>(question: One, at: number): One => ({
  ...question,
  until: question.until === null ? null : Math.max(question.until, at),
  ...(typeof question.deadlineAt === 'number' && { deadlineAt: Math.max(question.deadlineAt, at) }),
});

/** Before then no step moves. */
export const standsUntil = (activeCase: ActiveCase): number =>
  isSuspended(activeCase) ? NEVER : Math.max(activeCase.moreTime.until, activeCase.askAgainAt);

/** Whether the plan is suspended while the agent waits. A person's decision, and a hand-off that the agent asks for, are not. */
export const isSuspended = ({ suspendedAt, caseContext, handoffAsked, death }: ActiveCase): boolean =>
  suspendedAt !== undefined && caseContext.by === null && handoffAsked === null && death === null;

export const opened = (
  caseContext: CaseContext,
  resumePoint: ResumePoint | null,
  { dryRun, openedAt, resumedAt, answers }: Pick<ActiveCase, 'dryRun' | 'openedAt' | 'resumedAt' | 'answers'>,
): ActiveCase => ({
  caseContext: { ...caseContext, evidence: [] },
  openedAt,
  plans: [caseContext.planName],
  index: resumePoint?.index ?? 0,
  stepState:
    resumePoint?.question && !asksAgain(resumePoint, openedAt)
      ? { kind: 'escalated', ...resumePoint.question }
      : { kind: 'turn' },
  attempt: resumePoint?.attempt ?? notBegun,
  done: resumePoint?.done ?? [],
  nudges: resumePoint?.nudges ?? [],
  doneBefore: resumePoint?.doneBefore ?? [],
  handoff: null,
  escalated: resumePoint?.escalated ?? false,
  answered: false,
  answers,
  reminder: 'none',
  handoffAsked: null,
  decision: null,
  moreTime: resumePoint?.moreTime ?? { times: 0, until: 0 },
  askAgainAt: 0,
  ...(caseContext.suspendedBy !== undefined && { suspendedAt: openedAt }),
  paused: null,
  resumedAt,
  dryRun,
  death: caseContext.ended ? deathByEnd(caseContext) : null,
  withdrawing: null,
  ending: null,
});
