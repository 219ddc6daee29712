import type { AlertSeverity, TicketSeverity, WorkerEscalationTicketPayload } from '@vigil/events';
import { type About, dismiss, type Noticed, raise, resolve } from './notice.ts';
import { triage } from './triage.ts';

export const TICKET_ROUTE = 'escalation_ticket';

const SEVERITIES: Readonly<Record<TicketSeverity, AlertSeverity>> = {
  UNKNOWN: 'warning',
  low: 'info',
  medium: 'warning',
  high: 'warning',
  critical: 'critical',
};

export const severityOf = (severity: TicketSeverity): AlertSeverity => SEVERITIES[severity];

/** Triage asks people to review a ticket, or dismisses it. The worker is not notified and continues. */
export function ticketNotices(filed: WorkerEscalationTicketPayload): readonly Noticed[] {
  const { intervene, analysis } = triage(filed);
  const { ticket_id, severity, worker_agent_id: agent, suggested_action } = filed.ticket;
  const triaged = { ticket_id, analysis, severity };
  if (!intervene) return [dismiss(TICKET_ROUTE, filed, severityOf(severity), triaged)];
  return [
    raise(TICKET_ROUTE, filed, {
      severity: severityOf(severity),
      title: `${agent}: ${severity} ticket`,
      text: `${analysis}; ${suggested_action}`,
      ticket: triaged,
    }),
  ];
}

/** With the episode its ticket is over. */
export const ticketOver = (about: About, text: string): Noticed => resolve(TICKET_ROUTE, about, text);
