import type { TicketRow } from '@vigil/read-model';

/** How long the status line names a new ticket, milliseconds. */
export const STATUS_MS = 30_000;
/** How long the notification of an operator review stays, milliseconds. */
export const NOTICE_MS = 30_000;

/** `judge: high ticket`, briefly after a ticket was filed; null: no new ticket. */
export const statusOf = (tickets: readonly TicketRow[], now: number): string | null => {
  const newest = tickets.find(({ filedAt }) => filedAt !== null && now - filedAt < STATUS_MS);
  return newest === undefined ? null : `judge: ${newest.severity ?? 'unknown'} ticket`;
};

/** The newest ticket for which people were asked in; its key and footer exist only with it. */
export const reviewOf = (tickets: readonly TicketRow[]): TicketRow | null =>
  tickets
    .filter(({ answer, alertKey }) => answer === 'intervene' && alertKey !== null)
    .toSorted((one, other) => (other.answeredAt ?? 0) - (one.answeredAt ?? 0))[0] ?? null;

/** The notification: the newest review, for 30 seconds, unless it was dismissed. */
export const noticeOf = (review: TicketRow | null, dismissed: ReadonlySet<string>, now: number): TicketRow | null => {
  if (review === null || review.answeredAt === null || dismissed.has(review.ticketId)) return null;
  return now - review.answeredAt < NOTICE_MS ? review : null;
};
