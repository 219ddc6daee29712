import type {
  CheckpointRef,
  ClientReport,
  Draft,
  EventOf,
  Evidence,
  HealthState,
  PolicyRef,
  RecoverySettings,
  Topic,
  WarrantFiledPayload,
  WithheldWhy,
} from '@vigil/events';
import type { PlannedStep } from '@vigil/policy';

export type Ending = 'recovered' | 'pardoned' | 'superseded' | 'expired' | 'executed' | 'failed' | 'withheld';

/** The subject of a case and the inputs of its plan, from a warrant or a person's request. */
export type CaseContext = {
  readonly caseId: string;
  /** null: a person's request */
  readonly warrantId: string | null;
  /** who requested it, or decided to terminate and recover */
  readonly by: string | null;
  readonly agentId: string;
  readonly instanceId: string | null;
  readonly runtimeId: string | null;
  readonly taskId: string | null;
  /** absent: the case is older than this */
  readonly attempt?: number | null;
  readonly episodeId: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly state: HealthState;
  readonly axes: readonly string[];
  /** what ends the finding; the orders carry it to the runtime */
  readonly awaits: WarrantFiledPayload['awaits'];
  readonly hard: boolean;
  /** of each piece of evidence; absent: the case is older than this, or a person's request */
  readonly confidences?: readonly Evidence['confidence'][];
  readonly foldedSequence: number | null;
  /** the lease, epoch milliseconds; null: none, for a person's request */
  readonly voidAt: number | null;
  readonly planName: string;
  readonly steps: readonly PlannedStep[];
  /** handed on as it is */
  readonly recovery: RecoverySettings;
  /** for people: the evidence in words, or the reason of a person's request */
  readonly reason: string;
  /** emptied when the case is open: CASE_OPENED carries it */
  readonly evidence: readonly Evidence[];
  readonly checkpoint: CheckpointRef | null;
  /** the coding agent that runs as this agent; null: none that is known; absent: the case is older than this */
  readonly client?: ClientReport | null;
  /** since the last checkpoint; null for a person's request */
  readonly workedMinutes: number | null;
  /** for the agent: the finding and what it can do; empty for a person's request */
  readonly finding: string;
  readonly advice: string;
  readonly idleMinutes: number | null;
  readonly contextUsagePct: number | null;
  /** when the limit ends that the agent reported last; null: none, absent: the case is older than this */
  readonly limitedUntil?: number | null;
  /** the instance had ended when this was found */
  readonly ended: boolean;
  readonly correlationId: string;
  readonly policy: PolicyRef | null;
};

/** The facts about an instance's death, from the receipt of a terminate or from its end in agent-health. */
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

/** Why the governor withholds a step. It keeps the request and admits it when the reason is over. */
export type Withheld = { readonly why: WithheldWhy; readonly detail: string };

/** The progress of the current step. `withheld`: the announced reason; null: the step is not withheld. */
export type StepState =
  | { readonly kind: 'turn' }
  | { readonly kind: 'asked'; readonly requestId: string; readonly withheld: Withheld | null }
  /** until null: for ever */
  | { readonly kind: 'escalated'; readonly until: number | null; readonly options: readonly string[] }
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

/**
 * How long a person's decision, or a handoff that the agent has asked for, may wait for its admission, milliseconds: the usual limit for an answer. They
 * decided about the agent as it was. After a halt of hours it may be healthy, and its end would surprise.
 */
export const FRESH_MS = 15 * 60_000;

export type Decision = { readonly what: 'terminate_and_recover' | 'force_handoff'; readonly until: number };

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
  /** a ruling came late: the next is asked for from then on; 0: no wait */
  readonly askAgainAt: number;
  /** an order holds the agent: until when, epoch milliseconds; it is set going again after any outcome of the case */
  readonly paused: { readonly until: number } | null;
  /** when the instance's session was last resumed by order, epoch milliseconds; null: never */
  readonly resumedAt: number | null;
  readonly dryRun: boolean;
  /** null: alive, as far as is confirmed */
  readonly death: Death | null;
  /** an admission that is no longer wanted */
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

export type Question = { readonly until: number | null; readonly options: readonly string[] };

type Reads = (typeof Topic)['agentHealth' | 'stepRuling' | 'orderReceipt' | 'decideCase'];

type Writes = (typeof Topic)['agentIntervention' | 'agentOrder' | 'admitStep' | 'recoverTask'];

export type CaseInput = EventOf<Reads>;
export type InputOf<Type extends CaseInput['type']> = Extract<CaseInput, { readonly type: Type }>;

export type CaseDraft = Draft<Writes>;
export type DraftOf<Type extends CaseDraft['type']> = Extract<CaseDraft, { readonly type: Type }>;

export type Situation =
  | { readonly kind: 'quiet' }
  /** the case is not open yet: its first admission is asked for, or (`turn`) about to be */
  | {
      readonly kind: 'asking';
      readonly caseContext: CaseContext;
      readonly stepState: StepState;
      readonly dropped: string | null;
    }
  | { readonly kind: 'open'; readonly activeCase: ActiveCase }
  /** closed as failed, but a late confirmation of the death still continues the plan */
  | { readonly kind: 'unconfirmed'; readonly activeCase: ActiveCase };

/** The current instance of the agent, and the number of the last order for it. */
export type Instance = {
  readonly instanceId: string | null;
  /** the one before: what is still reported of it changes nothing */
  readonly previous: string | null;
  readonly runtimeId: string | null;
  readonly ended: boolean;
  /** its end is a loss: it may be alive, and end by an order that is out; absent: it is not, or the state is older than this */
  readonly isLost?: boolean;
  readonly number: number;
  /** the newest pause: which it is of those in a row, and when it ends or ended; null: none */
  readonly pauses: { readonly times: number; readonly until: number } | null;
  /** when its session was last resumed by order, epoch milliseconds; null: never; absent: the state is older than this */
  readonly resumedAt?: number | null;
};

/** What has been done about an episode, so that a renewed finding is not acted on again for the same reason. */
export type Episode = {
  readonly id: string;
  /** nothing more follows before the next episode: it recovered or was superseded, people have decided so, or no source has confirmed a death */
  readonly settled: boolean;
  /** names of the plans that were worked through, the newest eight */
  readonly worked: readonly string[];
  /** names of those that a dry run has rehearsed */
  readonly rehearsed: readonly string[];
  readonly answers: Answers;
  /** where its newest case stood when the governor withheld it, or a request by hand took its place; absent: none was, or the agent has answered since */
  readonly withheld?: ResumePoint;
};

/**
 * Orders of a case that is closed, and the case: none of them can be taken back, so the agent may still end by one. That end continues the
 * plan. `death`: for one call only.
 */
export type Outstanding = {
  readonly handoff: string | null;
  readonly terminate: string | null;
  readonly activeCase: ActiveCase;
  readonly death: Death | null;
  /** orders of the case before, which are out too; absent: none, or the state is older than this */
  readonly earlier?: Outstanding | null;
};

export type CaseState = {
  readonly agentId: string;
  readonly instance: Instance | null;
  /** when its end was observed, epoch milliseconds; absent: it has not ended, or the state is older than this */
  readonly endedAt?: number | null;
  /** admissions ever asked for this agent: makes request ids unique */
  readonly requests: number;
  /** the newest case that is closed, or was withheld before it opened */
  readonly last: { readonly caseId: string; readonly ending: Ending } | null;
  /** the newest episode that a warrant has opened a case in */
  readonly episode: Episode | null;
  /** how many cases were asked for on the newest warrant */
  readonly asked: { readonly warrantId: string; readonly times: number } | null;
  /** the instance whose death a case has worked through: its end opens no other case */
  readonly acknowledgedDeath: string | null;
  readonly situation: Situation;
  /** of the newest case that is closed: orders by which the agent may still end; absent: none, or the state is older than this */
  readonly outstanding?: Outstanding | null;
  /** the case whose terminate was not confirmed: people are notified until the agent has ended */
  readonly unconfirmed: CaseContext | null;
  /** what opens the next case */
  readonly next: CaseContext | null;
};

export const notBegun: Attempt = { sent: 0, lastAt: 0, order: null };

export const unknownInstance: Instance = {
  instanceId: null,
  previous: null,
  runtimeId: null,
  ended: false,
  number: 0,
  pauses: null,
  resumedAt: null,
};

export const initial: CaseState = {
  agentId: '',
  instance: null,
  requests: 0,
  last: null,
  episode: null,
  asked: null,
  acknowledgedDeath: null,
  situation: { kind: 'quiet' },
  outstanding: null,
  unconfirmed: null,
  next: null,
};

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

/** Before then no step moves. */
export const standsUntil = ({ moreTime, askAgainAt }: ActiveCase): number => Math.max(moreTime.until, askAgainAt);

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
  paused: null,
  resumedAt,
  dryRun,
  death: caseContext.ended ? deathByEnd(caseContext) : null,
  withdrawing: null,
  ending: null,
});

/** A death where only the end is known: the work is that of the newest checkpoint. */
export const deathByEnd = ({ checkpoint }: CaseContext): Death => ({
  forced: false,
  checkpoint,
  completedWork: checkpoint?.completedWork ?? [],
  remainingWork: checkpoint?.remainingWork ?? [],
  claimsReleased: [],
  forensics: null,
});

/** What is known of this episode; the same where it is known. */
export const episodeOf = ({ episode }: CaseState, id: string): Episode =>
  episode?.id === id ? episode : { id, settled: false, worked: [], rehearsed: [], answers: unanswered };

/** Where a case on the same plan of the same episode stood. */
export const resumePointOf = (
  { episode }: CaseState,
  { episodeId, planName, steps }: CaseContext,
): ResumePoint | null => {
  const resumePoint = episode !== null && episode.id === episodeId ? episode.withheld : undefined;
  return resumePoint?.planName === planName && (steps[resumePoint.index]?.step ?? '') === resumePoint.step
    ? resumePoint
    : null;
};

/** The open case, changed; the same state where none is open. */
export const inCase = (state: CaseState, change: (activeCase: ActiveCase) => ActiveCase): CaseState =>
  state.situation.kind === 'open'
    ? { ...state, situation: { kind: 'open', activeCase: change(state.situation.activeCase) } }
    : state;

/** Withheld before it opened: the finding, renewed, asks again. */
export const neverOpened = (state: CaseState, { caseId }: CaseContext): CaseState => ({
  ...state,
  situation: { kind: 'quiet' },
  last: { caseId, ending: 'withheld' },
});
