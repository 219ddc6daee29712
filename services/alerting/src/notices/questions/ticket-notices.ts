import type { AlertSeverity, TicketSeverity, WorkerEscalationTicketPayload } from '@vigil/events';
import { excusesUntil, spell, utcTime } from '@vigil/policy';
import { type About, dismiss, itemOfTicket, type Noticed, raise, resolve } from '../notice.ts';

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
export const ticketNotices = (filed: WorkerEscalationTicketPayload): readonly Noticed[] => {
  const { intervene, analysis } = triage(filed);
  const { ticket_id, severity, worker_agent_id: agent, suggested_action } = filed.ticket;
  const triaged = { ticket_id, analysis, severity };
  const tickets = { ticket: triaged, filed: filed.ticket };
  if (!intervene) return [dismiss(TICKET_ROUTE, filed, severityOf(severity), tickets)];
  return [
    raise(TICKET_ROUTE, filed, {
      severity: severityOf(severity),
      title: `${agent}: ${severity} ticket`,
      text: `${analysis}; ${suggested_action}`,
      itemId: itemOfTicket(triaged),
      ...tickets,
    }),
  ];
};

/** With the episode its ticket is over. */
export const ticketOver = (about: About, text: string): Noticed => resolve(TICKET_ROUTE, about, text);

/** The triage decision about a ticket, a second gate before people are notified. `analysis`: the reason, for people. */
type Answer = { readonly intervene: boolean; readonly analysis: string };

type FiledTicket = Pick<WorkerEscalationTicketPayload, 'ticket' | 'findings'>;
/** One rule: the reason for which it decides a ticket; null: it does not decide. */
type Rule = (filed: FiledTicket) => string | null;

const STALL_MINUTES = 4;
const LOW_STEPS = 8;
const STEPS = 10;

const when = (holds: boolean, why: string): string | null => (holds ? why : null);

/** An excuse dismisses a severity once in an episode, and for a bounded time. */
const dismissesOnce = ({ severity, created_at }: FiledTicket['ticket']): string => {
  const until = new Date(excusesUntil(Date.parse(created_at)));
  const latest = Number.isNaN(until.getTime()) ? 'four minutes after it' : utcTime(until.getTime());
  return `dismisses a ${severity} ticket once, until ${latest} at the latest; what the ticket reports`;
};

const progressed: Rule = ({ ticket, findings: { progressAt } }) => {
  const at = Date.parse(ticket.created_at);
  if (progressAt === null || !(excusesUntil(progressAt) > at)) return null;
  return `genuine progress ${spell(Math.max(0, at - progressAt))} before the ticket ${dismissesOnce(ticket)}`;
};

/** In the order of the seed of hive: what dismisses, then what intervenes. The first rule that gives a reason decides. */
const RULES: readonly (readonly [intervene: boolean, rule: Rule])[] = [
  [
    false,
    ({ ticket: { severity, steps_since_last_accept: n } }) =>
      when(severity === 'low' && n < LOW_STEPS, `low severity, ${n} steps without an ACCEPT`),
  ],
  [
    false,
    ({ ticket, findings: { transient, unrecoverable } }) =>
      when(transient && !unrecoverable, `a single timeout that has resolved itself ${dismissesOnce(ticket)}`),
  ],
  [false, progressed],
  [true, ({ ticket: { severity: s } }) => when(s === 'high' || s === 'critical', `severity is ${s}`)],
  [true, ({ ticket: { steps_since_last_accept: n } }) => when(n >= STEPS, `${n} steps without an ACCEPT`)],
  [true, ({ ticket: { stall_minutes: m } }) => when(m !== null && m > STALL_MINUTES, `no step for ${m} minutes`)],
  [true, ({ findings }) => when(findings.loop, 'doom loop: it repeats itself without new information')],
  [true, ({ findings }) => when(findings.unrecoverable, 'an error that does not pass by itself')],
];

export const triage = (filed: FiledTicket): Answer => {
  for (const [intervene, rule] of RULES) {
    const why = rule(filed);
    if (why !== null) return { intervene, analysis: `${why}: ${filed.ticket.cause}` };
  }
  return { intervene: false, analysis: `no rule for notifying people holds: ${filed.ticket.cause}` };
};
