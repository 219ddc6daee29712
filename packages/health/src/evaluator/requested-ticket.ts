import type { EscalationTicket } from '@vigil/events';
import { Unwelcome } from '@vigil/stream';
import type { AgentState, KnownAgent } from './state.ts';

const SNIPPET = 500;
const TEXTS = [
  'ticket_id',
  'worker_agent_id',
  'worker_session_id',
  'worker_node_id',
  'worker_graph_id',
  'cause',
  'judge_reasoning',
  'suggested_action',
] as const;
const COUNTS = ['total_steps_checked', 'steps_since_last_accept'] as const;

/** Checks a ticket that another program files. Throws Unwelcome with the first wrong field. */
export const withTicket = (state: AgentState, agentId: string, ticket: EscalationTicket): KnownAgent => {
  const wrong = wrongIn(ticket, agentId);
  if (wrong !== null) throw new Unwelcome('bad_ticket', `ticket ${ticket.ticket_id} of ${agentId}: ${wrong}`);
  if (state.kind === 'unseen')
    throw new Unwelcome('unknown_agent', `a ticket for ${agentId}, which is unknown: correct the agent's id`);
  return { ...state, tickets: [...state.tickets, ticket] };
};

const wrongIn = (ticket: EscalationTicket, agentId: string): string | null => {
  const {
    worker_agent_id: worker,
    severity,
    created_at: created,
    stall_minutes: stall,
    evidence_snippet: shown,
  } = ticket;
  for (const field of TEXTS) if (ticket[field].trim() === '') return `${field} is empty: write it`;
  for (const field of COUNTS)
    if (!Number.isSafeInteger(ticket[field]) || ticket[field] < 0) return `${field} is ${ticket[field]}: count from 0`;
  if (worker !== agentId) return `worker_agent_id is ${worker}: file it under that agent`;
  if (severity === 'UNKNOWN') return 'severity is not one of low, medium, high, critical: name one';
  if (Number.isNaN(Date.parse(created))) return `created_at is ${created}: write an ISO 8601 time`;
  if (stall !== null && !(Number.isFinite(stall) && stall >= 0))
    return `stall_minutes is ${stall}: count from 0, or null`;
  if (shown.length > SNIPPET) return `evidence_snippet has ${shown.length} characters: keep at most ${SNIPPET}`;
  return null;
};
