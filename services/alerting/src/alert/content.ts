import type { AlertSeverity } from '@vigil/events';
import type { Notice } from '../notices/notice.ts';

/** The content of an alert. `channels`: all that were requested since it was raised. */
export type Content = Omit<Notice, 'alertKey' | 'action' | 'timeAgeMs' | 'ticket'>;

const severities: readonly AlertSeverity[] = ['UNKNOWN', 'info', 'warning', 'critical'];
export const isWorse = (one: AlertSeverity, than: AlertSeverity): boolean =>
  severities.indexOf(one) > severities.indexOf(than);

/** Within an episode the severity never falls, and the options stay with their case. */
export const inPlace = (known: Content, update: Content): Content => {
  const asking = update.options.length > 0 || known.options.length === 0 ? update : known;
  const { options, deadlineAt, onTimeout } = asking;
  return {
    ...update,
    options,
    deadlineAt,
    onTimeout,
    agentId: update.agentId ?? known.agentId,
    caseId: asking.caseId ?? known.caseId,
    episodeId: update.episodeId ?? known.episodeId,
    severity: isWorse(known.severity, update.severity) ? known.severity : update.severity,
    checkpoint: update.checkpoint ?? known.checkpoint,
    blocked: update.blocked ?? known.blocked,
    channels: [...new Set([...known.channels, ...update.channels])],
  };
};

/** Without the question of a case that is answered or closed; null: it has no question of that case. */
export const settledBy = (known: Content, { caseId, title, text }: Content): Content | null =>
  known.options.length === 0 || known.caseId !== caseId
    ? null
    : { ...known, title, text, options: [], deadlineAt: null, onTimeout: null };

/** The question that an alert puts to people; null: none. Another case, deadline or choice is another question. */
export const questionOf = ({ caseId, deadlineAt, options }: Content): string | null =>
  options.length === 0 ? null : JSON.stringify([caseId, deadlineAt, options]);
