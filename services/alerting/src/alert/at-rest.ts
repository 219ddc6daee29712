import type { AtRest } from '@vigil/stream';
import type { Alert, AlertingState } from './alert-state.ts';
import type { Content } from './content.ts';
import type { Open } from './due.ts';

/** What sinks had received, in shape 8. */
type OpenOf8 = Omit<Open, 'sent' | 'ending' | 'content' | 'freshSince'> & {
  readonly content: Omit<Content, 'urgency' | 'groupWaitMs' | 'repeatMs'>;
  readonly sentSeverity: NonNullable<Open['sent']>['severity'] | null;
  readonly sentTo: readonly string[];
  readonly sentQuestion: string | null;
};
type AlertOf8 = Omit<Alert, 'kind' | 'open' | 'awaited'> & { readonly open: OpenOf8 | null; readonly silence: unknown };

const openOf = ({ sentSeverity: severity, sentTo: to, sentQuestion: question, ...open }: OpenOf8): Open => ({
  ...open,
  content: { ...open.content, urgency: 'normal', groupWaitMs: null, repeatMs: null },
  sent: severity === null ? null : { severity, urgency: 'normal', question, to },
  freshSince: null,
  ending: null,
});

/** Shape 9 has urgency and ends that wait. A silence was of one alert key, which no command could set for an alert. */
const withUrgency = ({ silence: _, open, ...state }: AlertOf8): AlertingState => ({
  kind: 'alert',
  ...state,
  open: open === null ? null : openOf(open),
});

export const AT_REST: AtRest<AlertingState> = {
  oldest: 8,
  upgrades: [{ usual: null, to: (state) => withUrgency(state as AlertOf8) }],
  usual: null,
};
