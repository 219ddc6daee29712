import type { TicketRow } from '@vigil/read-model';
import { clockTime, orDash, table, type View } from '../view.ts';

const DECISIONS = { intervene: 'escalated', dismissed: 'dismissed' } as const;

export const ticketsTable = (view: View, tickets: readonly TicketRow[]): string[] =>
  table<TicketRow>(
    view,
    [
      { title: 'TICKET', of: ({ ticketId }) => ticketId },
      { title: 'TIME', of: ({ filedAt }) => (filedAt === null ? '-' : clockTime(view, filedAt)) },
      { title: 'AGENT', of: ({ agentId }) => orDash(agentId) },
      { title: 'SEVERITY', of: ({ severity }) => orDash(severity) },
      { title: 'DECISION', of: ({ answer }) => (answer === null ? 'waits' : DECISIONS[answer]) },
      { title: 'CAUSE', of: ({ ticket }) => orDash(ticket?.cause ?? null), rest: true },
    ],
    tickets,
    'No tickets.',
  );
