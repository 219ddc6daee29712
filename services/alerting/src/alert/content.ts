import type { AlertSeverity, AlertUrgency } from '@vigil/events';
import type { Notice } from '../notices/notice.ts';

/** The content of an alert. `channels`: all that were requested since it was raised. */
export type Content = Omit<
  Notice,
  | 'alertKey'
  | 'action'
  | 'timeAgeMs'
  | 'ticket'
  | 'filed'
  | 'afterMs'
  | 'scope'
  | 'agentIds'
  | 'isPardon'
  | 'heldFrom'
  | 'heldTo'
  | 'askedText'
  | 'isExpired'
  | 'waitSince'
>;

/** The content of an alert that a notice has. */
export const contentOf = (notice: Notice): Content => {
  const {
    alertKey: _,
    action: __,
    timeAgeMs: ___,
    ticket: ____,
    filed,
    afterMs,
    scope,
    agentIds,
    isPardon,
    heldFrom,
    heldTo,
    askedText,
    isExpired,
    waitSince,
    ...content
  } = notice;
  return content;
};

const severities: readonly AlertSeverity[] = ['UNKNOWN', 'info', 'warning', 'critical'];
export const isWorse = (one: AlertSeverity, than: AlertSeverity): boolean =>
  severities.indexOf(one) > severities.indexOf(than);

const urgencies: readonly AlertUrgency[] = ['UNKNOWN', 'normal', 'high', 'highest'];
export const isMoreUrgent = (one: AlertUrgency, than: AlertUrgency): boolean =>
  urgencies.indexOf(one) > urgencies.indexOf(than);

/** One step higher than now, at most the highest. */
export const raisedUrgency = (urgency: AlertUrgency): AlertUrgency => {
  switch (urgency) {
    case 'UNKNOWN':
    case 'normal':
      return 'high';
    case 'high':
    case 'highest':
      return 'highest';
  }
};

const isAsking = ({ options, requestId }: Pick<Content, 'options' | 'requestId'>): boolean =>
  options.length > 0 || requestId !== null;

/** A question whose deadline passes by itself. */
export const hasDeadline = ({
  options,
  requestId,
  deadlineAt,
}: Pick<Content, 'options' | 'requestId' | 'deadlineAt'>): boolean =>
  deadlineAt !== null && isAsking({ options, requestId });

/**
 * Within an episode severity and urgency never fall, and the options stay with their case or request. What an agent asks
 * stays readable while its request waits.
 */
export const inPlace = (known: Content, update: Content): Content => {
  const asking = isAsking(update) || !isAsking(known) ? update : known;
  const { options, questions, deadlineAt, onTimeout, requestId, itemId, askedAt } = asking;
  const { title, text } = requestId === null ? update : asking;
  return {
    ...update,
    title,
    text,
    options,
    questions,
    deadlineAt,
    onTimeout,
    requestId,
    itemId,
    askedAt,
    agentId: update.agentId ?? known.agentId,
    caseId: asking.caseId ?? known.caseId,
    episodeId: update.episodeId ?? known.episodeId,
    severity: isWorse(known.severity, update.severity) ? known.severity : update.severity,
    urgency: isMoreUrgent(known.urgency, update.urgency) ? known.urgency : update.urgency,
    checkpoint: update.checkpoint ?? known.checkpoint,
    blocked: update.blocked ?? known.blocked,
    channels: [...new Set([...known.channels, ...update.channels])],
  };
};

/** Without the question of a case that is answered or closed; null: it has no question of that case. */
export const settledBy = (known: Content, { caseId, title, text }: Content): Content | null =>
  known.options.length === 0 || known.requestId !== null || known.caseId !== caseId
    ? null
    : { ...known, title, text, options: [], deadlineAt: null, onTimeout: null, itemId: null, askedAt: null };

/** With the pardon of its case, which asked nothing; null: it is of another case. */
export const pardonedBy = (known: Content, { caseId, title, text }: Content): Content | null =>
  known.caseId === caseId ? { ...known, title, text } : null;

/** The question that an alert puts to people; null: none. Another case, request, deadline or choice is another question. */
export const questionOf = (
  content: Pick<Content, 'caseId' | 'requestId' | 'deadlineAt' | 'options'>,
): string | null => {
  const { caseId, requestId, deadlineAt, options } = content;
  return isAsking(content) ? JSON.stringify([requestId ?? caseId, deadlineAt, options]) : null;
};
