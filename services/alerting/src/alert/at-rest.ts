import type { AtRest } from '@vigil/stream';
import type { Alert, AlertingState } from './alert-state.ts';
import type { Content } from './content.ts';
import type { Open } from './due.ts';
import type { Gates } from './gates.ts';

/** What sinks had received, in shape 8. */
type OpenOf8 = Omit<Open, 'sent' | 'ending' | 'content' | 'freshSince'> & {
  readonly content: Omit<
    Content,
    'urgency' | 'groupWaitMs' | 'repeatMs' | 'requestId' | 'questions' | 'itemId' | 'askedAt'
  >;
  readonly sentSeverity: NonNullable<Open['sent']>['severity'] | null;
  readonly sentTo: readonly string[];
  readonly sentQuestion: string | null;
};
type AlertOf8 = Omit<Alert, 'kind' | 'open' | 'awaited' | 'requests'> & {
  readonly open: OpenOf8 | null;
  readonly silence: unknown;
};

const openOf = ({ sentSeverity: severity, sentTo: to, sentQuestion: question, ...open }: OpenOf8): OpenOf9 => ({
  ...open,
  content: { ...open.content, urgency: 'normal', groupWaitMs: null, repeatMs: null },
  sent: severity === null ? null : { severity, urgency: 'normal', question, to },
  freshSince: null,
  ending: null,
});

type ContentOf13 = Omit<Content, 'blocked'> & {
  readonly blocked: Omit<NonNullable<Content['blocked']>, 'endedByItself'> | null;
};
type ContentOf12 = Omit<ContentOf13, 'askedAt'>;
type ContentOf11 = Omit<ContentOf12, 'itemId'>;
type ContentOf10 = Omit<ContentOf11, 'questions'>;
type ContentOf9 = Omit<ContentOf10, 'requestId'>;
type OpenOf9 = Omit<Open, 'content'> & { readonly content: ContentOf9 };
type AlertWith<OfContent> = Omit<Alert, 'open' | 'awaited' | 'requests' | 'ruled'> & {
  readonly open: (Omit<Open, 'content'> & { readonly content: OfContent }) | null;
  readonly awaited?: Omit<NonNullable<Alert['awaited']>, 'content'> & { readonly content: OfContent };
};
type AlertOf9 = AlertWith<ContentOf9>;
type AlertOf10 = AlertWith<ContentOf10> & AlsoWith<ContentOf10>;
type AlertOf11 = AlertWith<ContentOf11> & AlsoWith<ContentOf11>;
type AlertOf12 = AlertWith<ContentOf12> & AlsoWith<ContentOf12>;
type AlertOf13 = AlertWith<ContentOf13> & AlsoWith<ContentOf13>;
type AlsoWith<OfContent> = {
  readonly requests?: readonly OfContent[];
  readonly ruled?: Omit<NonNullable<Alert['ruled']>, 'content'> & { readonly content: OfContent };
};

/** Shape 10 has the request that an alert shows. */
const withRequest = (state: AlertOf9 | Gates): AlertOf10 | Gates => {
  if (state.kind === 'gates') return state;
  const { open, awaited, ...rest } = state;
  return {
    ...rest,
    open: open && { ...open, content: { ...open.content, requestId: null } },
    ...(awaited && { awaited: { ...awaited, content: { ...awaited.content, requestId: null } } }),
  };
};

/** A state with each of its contents changed. */
const withContents =
  <From, To>(change: (content: From) => To) =>
  ({ open, awaited, requests, ruled, ...rest }: AlertWith<From> & AlsoWith<From>): AlertWith<To> & AlsoWith<To> => ({
    ...rest,
    open: open && { ...open, content: change(open.content) },
    ...(awaited && { awaited: { ...awaited, content: change(awaited.content) } }),
    ...(requests && { requests: requests.map(change) }),
    ...(ruled && { ruled: { ...ruled, content: change(ruled.content) } }),
  });

/** Shape 11 has the questions that an agent asks. */
const withQuestions = (state: AlertOf10 | Gates): AlertOf11 | Gates =>
  state.kind === 'gates'
    ? state
    : withContents((content: ContentOf10): ContentOf11 => ({ ...content, questions: [] }))(state);

/** Shape 12 has the item of the inbox that an alert is about. */
const withItem = (state: AlertOf11 | Gates): AlertOf12 | Gates =>
  state.kind === 'gates'
    ? state
    : withContents((content: ContentOf11): ContentOf12 => ({ ...content, itemId: null }))(state);

/** Shape 13 has the time of the question that an alert puts. The open ones of before have none: their answers name no question. */
const withQuestionTime = (state: AlertOf12 | Gates): AlertOf13 | Gates =>
  state.kind === 'gates'
    ? state
    : withContents((content: ContentOf12): ContentOf13 => ({ ...content, askedAt: null }))(state);

/** Until shape 13 only the reason shows that the last agent of a blocked task ended by itself. */
const ENDED_BY_ITSELF = /(^|: )(ended: |crashed$)/;

/** Shape 14 has whether the last agent of a blocked task ended by itself. */
const withEnd = (state: AlertOf13 | Gates): AlertingState =>
  state.kind === 'gates'
    ? state
    : withContents(
        ({ blocked, ...content }: ContentOf13): Content => ({
          ...content,
          blocked: blocked && { ...blocked, endedByItself: ENDED_BY_ITSELF.test(blocked.reason) },
        }),
      )(state);

type GatesOf14 = Omit<Gates, 'groups'>;

/** Shape 15 has the groups of alerts that hold back deliveries. */
const withGroups = (state: Alert | GatesOf14): AlertingState =>
  state.kind === 'gates' ? { ...state, groups: [] } : state;

/** Shape 9 has urgency and ends that wait. A silence was of one alert key, which no command could set for an alert. */
const withUrgency = ({ silence: _, open, ...state }: AlertOf8): AlertOf9 => ({
  kind: 'alert',
  ...state,
  open: open === null ? null : openOf(open),
});

export const AT_REST: AtRest<AlertingState> = {
  oldest: 8,
  upgrades: [
    { usual: null, to: (state) => withUrgency(state as AlertOf8) },
    { usual: null, to: (state) => withRequest(state as AlertOf9 | Gates) },
    { usual: null, to: (state) => withQuestions(state as AlertOf10 | Gates) },
    { usual: null, to: (state) => withItem(state as AlertOf11 | Gates) },
    { usual: null, to: (state) => withQuestionTime(state as AlertOf12 | Gates) },
    { usual: null, to: (state) => withEnd(state as AlertOf13 | Gates) },
    { usual: null, to: (state) => withGroups(state as Alert | GatesOf14) },
  ],
  usual: null,
};
