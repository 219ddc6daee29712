import type { CaseRow } from './queries/cases.ts';
import type { AlertRow } from './queries/fleet.ts';
import type { TaskRow } from './queries/tasks.ts';

export type Acknowledgement = Pick<AlertRow, 'acknowledgedAt' | 'acknowledgedBy' | 'updatedAt' | 'waitsAgain'>;

/** Whether the alert has changed since a person acknowledged it. */
const isUpdatedSince = ({ acknowledgedAt, updatedAt }: Acknowledgement): boolean =>
  acknowledgedAt !== null && updatedAt !== null && updatedAt > acknowledgedAt;

/** Whether it can be acknowledged: no person has acknowledged it as it is now. */
export const canBeAcknowledged = (alert: Acknowledgement): boolean =>
  alert.acknowledgedAt === null || alert.waitsAgain || isUpdatedSince(alert);

/** How an alert stands that is not over. An acknowledgement covers what was known then: a later ticket waits in the inbox. */
export const standingText = (alert: Acknowledgement): string => {
  const { acknowledgedBy, waitsAgain } = alert;
  if (acknowledgedBy === null) return 'open';
  if (waitsAgain) return `waits again: a ticket came after ${acknowledgedBy} acknowledged it`;
  return `acknowledged by ${acknowledgedBy}${isUpdatedSince(alert) ? ', updated since' : ''}`;
};

/** Whether it is not over, and no person has acknowledged it. */
export const isUnacknowledged = ({
  resolvedAt,
  acknowledgedAt,
  waitsAgain,
}: Pick<AlertRow, 'resolvedAt' | 'acknowledgedAt' | 'waitsAgain'>): boolean =>
  resolvedAt === null && (acknowledgedAt === null || waitsAgain);

/** A line below the inbox, which has no alerts; null: there are none. `hasMore`: the count is that of a part. */
export const openAlertsText = (count: number, hasMore: boolean): string | null => {
  if (count === 0) return null;
  return `${hasMore ? 'At least ' : ''}${count} alert${count === 1 ? ' is' : 's are'} open and not acknowledged`;
};

/** Whether a task waits for a person: for the decision of its review, or for the acknowledgement of its block. */
export const waitsForPerson = ({ recovery, blockedAlertId }: Pick<TaskRow, 'recovery' | 'blockedAlertId'>): boolean =>
  recovery === 'REVIEW_REQUIRED' || blockedAlertId !== null;

/** Why a task stands as it does. The reason of a review comes before that of a block: its decision continues the task. */
export const taskReason = ({
  recovery,
  recoveryReason,
  blockedReason,
}: Pick<TaskRow, 'recovery' | 'recoveryReason' | 'blockedReason'>): string | null => {
  if (blockedReason === null) return recoveryReason;
  const blocked = `BLOCKED: ${blockedReason}`;
  return recovery === 'REVIEW_REQUIRED' && recoveryReason !== null ? `${recoveryReason}; ${blocked}` : blocked;
};

type CaseStanding = Pick<CaseRow, 'waiting' | 'withheld' | 'closedAt' | 'ending' | 'step' | 'moreTimeUntil'>;

const inWords = (name: string | null): string => name?.toLowerCase().replaceAll('_', ' ') ?? '-';

/** How a case stands, for its lists. `timeText`: a time for people. */
export const caseStandingText = (one: CaseStanding, timeText: (at: number) => string): string => {
  const { waiting, withheld, closedAt, ending, step, moreTimeUntil } = one;
  if (closedAt !== null) return `closed: ${ending ?? '-'}`;
  if (withheld !== null) return `withheld: ${inWords(withheld.why)}`;
  if (moreTimeUntil !== null) return `more time until ${timeText(moreTimeUntil)}`;
  return waiting ? 'waits for you' : `open: ${inWords(step)}`;
};
