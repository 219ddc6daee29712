import type { AtRest } from '@vigil/stream';
import type { Alert, AlertingState } from './alert-state.ts';
import type { Content } from './content.ts';
import type { Open } from './due.ts';
import type { Gates } from './gates.ts';

/** What sinks had received, in shape 8. */
type OpenOf8 = Omit<Open, 'sent' | 'ending' | 'content' | 'freshSince'> & {
  readonly content: Omit<Content, 'urgency' | 'groupWaitMs' | 'repeatMs' | 'requestId'>;
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

type ContentOf9 = Omit<Content, 'requestId'>;
type OpenOf9 = Omit<Open, 'content'> & { readonly content: ContentOf9 };
type AlertOf9 = Omit<Alert, 'open' | 'awaited' | 'requests'> & {
  readonly open: OpenOf9 | null;
  readonly awaited?: Omit<NonNullable<Alert['awaited']>, 'content'> & { readonly content: ContentOf9 };
};

/** Shape 10 has the request that an alert shows. */
const withRequest = (state: AlertOf9 | Gates): AlertingState => {
  if (state.kind === 'gates') return state;
  const { open, awaited, ...rest } = state;
  return {
    ...rest,
    open: open && { ...open, content: { ...open.content, requestId: null } },
    ...(awaited && { awaited: { ...awaited, content: { ...awaited.content, requestId: null } } }),
  };
};

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
  ],
  usual: null,
};
