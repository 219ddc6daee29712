import type { Draft, EventOf, Topic } from '@vigil/events';
import type { Ending, Matter, Open, Stood, Work } from './open.ts';
import type { Outstanding } from './outstanding.ts';

type Reads = (typeof Topic)['agentHealth' | 'stepRuling' | 'orderReceipt' | 'decideCase'];
type Writes = (typeof Topic)['agentIntervention' | 'agentOrder' | 'admitStep' | 'recoverTask'];
export type CaseInput = EventOf<Reads>;
export type CaseDraft = Draft<Writes>;

export type Situation =
  | { readonly at: 'quiet' }
  /** the case is not open yet: its first admission is asked for, or (`turn`) about to be */
  | { readonly at: 'asking'; readonly matter: Matter; readonly work: Work; readonly dropped: string | null }
  | { readonly at: 'open'; readonly open: Open }
  /** closed as failed, but a late confirmation of the death still continues the plan */
  | { readonly at: 'unconfirmed'; readonly open: Open };

/** The current life of the agent, and the number of the last order for it. */
export type Life = {
  readonly instanceId: string | null;
  /** the life before: what is still said of it changes nothing */
  readonly former: string | null;
  readonly runtimeId: string | null;
  readonly ended: boolean;
  readonly number: number;
  /** the newest pause: which it is of those in a row, and when it ends or ended; null: none */
  readonly pauses: { readonly times: number; readonly until: number } | null;
  /** when its session was last resumed by order, epoch milliseconds; null: never. A life of before has none */
  readonly resumedAt?: number | null;
};

export const unknownLife: Life = {
  instanceId: null,
  former: null,
  runtimeId: null,
  ended: false,
  number: 0,
  pauses: null,
  resumedAt: null,
};

/** What has been done about an episode, so that a renewed finding is not acted on again for the same reason. */
export type Episode = {
  readonly id: string;
  /** nothing more follows before the next episode: it recovered or was superseded, people have said so, or nobody has confirmed a death */
  readonly settled: boolean;
  /** names of the plans that were worked through, the newest eight */
  readonly worked: readonly string[];
  /** names of those of which a dry run has said what they would do */
  readonly rehearsed: readonly string[];
  /** where its newest case stood when the governor withheld it, or a request by hand took its place; absent: none was, or the agent has answered since */
  readonly withheld?: Stood;
};

export type CaseState = {
  readonly agentId: string;
  readonly life: Life | null;
  /** when its end was heard of, epoch milliseconds; absent: it has not ended, or the state is older than this */
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
  readonly buried: string | null;
  readonly situation: Situation;
  /** of the newest case that is closed: orders by which the agent may still end; absent: none, or the state is older than this */
  readonly outstanding?: Outstanding | null;
  /** what opens the next case */
  readonly next: Matter | null;
};

export const initial: CaseState = {
  agentId: '',
  life: null,
  requests: 0,
  last: null,
  episode: null,
  asked: null,
  buried: null,
  situation: { at: 'quiet' },
  outstanding: null,
  next: null,
};

/** Where a case on the same plan of the same episode stood. */
export const stoodAt = ({ episode }: CaseState, { episodeId, planName, steps }: Matter): Stood | null => {
  const stood = episode !== null && episode.id === episodeId ? episode.withheld : undefined;
  return stood?.planName === planName && (steps[stood.index]?.step ?? '') === stood.step ? stood : null;
};

/** The open case, changed; the same state where none is open. */
export const inCase = (state: CaseState, change: (open: Open) => Open): CaseState =>
  state.situation.at === 'open' ? { ...state, situation: { at: 'open', open: change(state.situation.open) } } : state;

/** Withheld before it opened: the finding, renewed, asks again. */
export const neverOpened = (state: CaseState, { caseId }: Matter): CaseState => ({
  ...state,
  situation: { at: 'quiet' },
  last: { caseId, ending: 'withheld' },
});
