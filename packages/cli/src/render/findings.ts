import type { BreakerRow, TicketRow } from '@vigil/read-model';
import { clockTime, orDash, type View } from './view.ts';

export function breakerLine(view: View, { name, state, failures, since, nextAttemptAt, trips }: BreakerRow): string {
  const next = nextAttemptAt === null ? '' : `, next attempt ${clockTime(view, nextAttemptAt)}`;
  const failed = state === 'CLOSED' ? '' : ` after ${failures} failures`;
  return `  ${name} ${state} since ${clockTime(view, since)}${failed}${next}, opened ${trips} times`;
}

const ANSWERS = { intervene: 'people were asked in', dismissed: 'dismissed' } as const;

/** What was found, and whether people were notified. */
export function ticketLine(view: View, { ticketId, severity, ticket, filedAt, answer, analysis }: TicketRow): string {
  const at = filedAt === null ? '-' : clockTime(view, filedAt);
  const asking = answer === null ? 'not triaged yet' : `${ANSWERS[answer]}: ${orDash(analysis)}`;
  return `  ${at} ${orDash(severity)} ticket ${ticketId}: ${orDash(ticket?.cause ?? null)}; ${asking}`;
}
