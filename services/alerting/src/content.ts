import type { AlertSeverity } from '@vigil/events';
import type { Notice } from './notice.ts';

/** What an alert says. */
export type Content = Omit<Notice, 'alertKey' | 'action' | 'timeAgeMs' | 'ticket'>;

const severities: readonly AlertSeverity[] = ['UNKNOWN', 'info', 'warning', 'critical'];
export const isWorse = (one: AlertSeverity, than: AlertSeverity): boolean =>
  severities.indexOf(one) > severities.indexOf(than);

/** Within an episode severity never falls, and what people may choose stays. */
export const inPlace = (known: Content, told: Content): Content => ({
  ...told,
  agentId: told.agentId ?? known.agentId,
  caseId: told.caseId ?? known.caseId,
  episodeId: told.episodeId ?? known.episodeId,
  severity: isWorse(known.severity, told.severity) ? known.severity : told.severity,
  options: told.options.length > 0 ? told.options : known.options,
  deadlineAt: told.deadlineAt ?? known.deadlineAt,
});
