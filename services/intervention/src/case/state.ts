import type { Draft, EventOf, Topic } from '@vigil/events';
import {
  type ActiveCase,
  type Answers,
  type Ending,
  type ResumePoint,
  type StepState,
  unanswered,
} from './active-case.ts';
import type { CaseContext, Death } from './case-context.ts';

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
 * plan. `death`: it has ended; the plan continues as soon as no case is open.
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
