import type { AlertSeverity } from '@vigil/events';
import type { Notice } from '../notices/notice.ts';

/** What an alert says. `channels`: all that were asked for since it rose. */
export type Content = Omit<Notice, 'alertKey' | 'action' | 'timeAgeMs' | 'ticket'>;

const severities: readonly AlertSeverity[] = ['UNKNOWN', 'info', 'warning', 'critical'];
export const isWorse = (one: AlertSeverity, than: AlertSeverity): boolean =>
  severities.indexOf(one) > severities.indexOf(than);

/** Within an episode severity never falls, and what people may choose stays, with the case that it is for. */
export function inPlace(known: Content, told: Content): Content {
  const asking = told.options.length > 0 || known.options.length === 0 ? told : known;
  const { options, deadlineAt, onTimeout } = asking;
  return {
    ...told,
    ...{ options, deadlineAt, onTimeout },
    agentId: told.agentId ?? known.agentId,
    caseId: asking.caseId ?? known.caseId,
    episodeId: told.episodeId ?? known.episodeId,
    severity: isWorse(known.severity, told.severity) ? known.severity : told.severity,
    checkpoint: told.checkpoint ?? known.checkpoint,
    blocked: told.blocked ?? known.blocked,
    channels: [...new Set([...known.channels, ...told.channels])],
  };
}

/** Without the question of a case that is answered or closed; null: it asks none of that case. */
export const settledBy = (known: Content, { caseId, title, text }: Content): Content | null =>
  known.options.length === 0 || known.caseId !== caseId
    ? null
    : { ...known, title, text, options: [], deadlineAt: null, onTimeout: null };

/** The question that an alert puts to people; null: none. Another case, deadline or choice is another question. */
export const questionOf = ({ caseId, deadlineAt, options }: Content): string | null =>
  options.length === 0 ? null : JSON.stringify([caseId, deadlineAt, options]);
