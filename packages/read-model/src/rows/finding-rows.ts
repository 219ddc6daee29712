import type { BreakerState, EscalationTicket, TicketFindings, TicketSeverity } from '@vigil/events';

/** Instants are epoch milliseconds, on the broker's clock. */
export type BreakerRow = {
  readonly name: string;
  /** null: the task's own, which recovery holds */
  readonly agentId: string | null;
  readonly taskId: string | null;
  readonly state: BreakerState;
  readonly failures: number;
  readonly nextAttemptAt: number | null;
  readonly since: number;
  /** how often it has opened, in the requested time */
  readonly trips: number;
};

/** A ticket that only an answer names has no contents: it was filed elsewhere. */
export type TicketRow = {
  readonly ticketId: string;
  readonly agentId: string | null;
  readonly instanceId: string | null;
  readonly taskId: string | null;
  readonly episodeId: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly severity: TicketSeverity | null;
  readonly ticket: EscalationTicket | null;
  readonly findings: TicketFindings | null;
  readonly filedAt: number | null;
  /** an operator review was requested, or triage dismissed it; null: neither yet */
  readonly answer: 'intervene' | 'dismissed' | null;
  readonly analysis: string | null;
  readonly alertKey: string | null;
  readonly answeredAt: number | null;
};
