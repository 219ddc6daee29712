import type { BreakerState, EscalationTicket, TicketFindings, TicketSeverity } from '@vigil/events';
import type { Sql } from '../apply.ts';
import {
  afterPlace,
  column,
  type Filter,
  list,
  listed,
  MOST_ROWS,
  newestFirst,
  type OfAgent,
  type Order,
  ofAgent,
  orderBy,
  type Paged,
  type RowOf,
  type Span,
  select,
  when,
  where,
  whereAgentIs,
  within,
} from './select.ts';

const breaker = {
  name: column<string>(),
  /** null for the task's breaker, which recovery holds */
  agentId: column<string | null>(),
  taskId: column<string | null>(),
  state: column<BreakerState>(),
  failures: column<number>(),
  nextAttemptAt: column<number | null>(),
  since: column<number>('breaker_since'),
};

/** Instants are epoch milliseconds, on the broker's clock. `trips`: the number of openings in the requested time. */
export type BreakerRow = RowOf<typeof breaker> & { readonly trips: number };

/** `tripsSince`: the start of the count of openings, epoch milliseconds; by default the start of what is kept. */
type BreakerFilter = Filter<
  { agentId: string; taskId: string; open: boolean; state: BreakerState; tripsSince: number } & OfAgent & Span & Paged
>;

/** [1 for a closed one, minus its time, its agent or task, its name] */
export const BREAKER_ORDER: Order<BreakerRow> = [
  ["CASE WHEN state = 'CLOSED' THEN 1 ELSE 0 END", 'bigint', ({ state }) => (state === 'CLOSED' ? 1 : 0)],
  newestFirst('breaker_since', ({ since }) => since),
  ["coalesce(agent_id, task_id, '')", 'text', ({ agentId, taskId }) => agentId ?? taskId ?? ''],
  ['name', 'text', ({ name }) => name],
];

/** All breakers that have opened; those that are not closed come first. */
export const breakers = (sql: Sql, filter: BreakerFilter): Promise<readonly BreakerRow[]> => {
  const { text, values } = where([
    when('agent_id = $?', filter.agentId),
    when('task_id = $?', filter.taskId),
    when(`(state = 'OPEN') = $?`, filter.open),
    when('state = $?', filter.state),
    ...whereAgentIs('b.agent_id', filter),
    ...within('breaker_since', filter),
    afterPlace(BREAKER_ORDER, filter.after),
  ]);
  return select<BreakerRow>(
    sql,
    `SELECT ${listed(breaker)},
       (SELECT count(*)::int FROM story j
        WHERE j.type = 'CIRCUIT_BREAKER_STATE_CHANGED'
          AND CASE WHEN b.agent_id IS NULL THEN j.task_id = b.owner ELSE j.agent_id = b.owner END
          AND j.payload ->> 'name' = b.name AND j.payload ->> 'to' = 'OPEN'
          AND j.occurred_at >= to_timestamp($${values.length + 1}::double precision / 1000)) AS trips
     FROM breakers b ${text} ORDER BY ${orderBy(BREAKER_ORDER)} LIMIT $${values.length + 2}`,
    [...values, filter.tripsSince ?? 0, filter.limit ?? MOST_ROWS],
  );
};

const ticket = {
  ticketId: column<string>(),
  agentId: column<string | null>(),
  instanceId: column<string | null>(),
  taskId: column<string | null>(),
  episodeId: column<string | null>(),
  labels: column<Readonly<Record<string, string>>>("coalesce(labels, '{}')"),
  severity: column<TicketSeverity | null>(),
  ticket: column<EscalationTicket | null>(),
  findings: column<TicketFindings | null>(),
  filedAt: column<number | null>(),
  /** whether an operator review was requested or triage dismissed it; null if neither has happened */
  answer: column<'intervene' | 'dismissed' | null>(),
  analysis: column<string | null>(),
  alertKey: column<string | null>(),
  answeredAt: column<number | null>(),
};

/** A ticket that only an answer names was filed elsewhere and has no contents. */
export type TicketRow = RowOf<typeof ticket>;

/** [minus its time, its id] */
export const TICKET_ORDER: Order<TicketRow> = [
  newestFirst('filed_at', ({ filedAt }) => filedAt),
  ['ticket_id', 'text', ({ ticketId }) => ticketId],
];

/** An operator review was requested, and its alert is neither over nor acknowledged since. */
const WAITS = `(answer = 'intervene' AND EXISTS (SELECT 1 FROM alerts WHERE alerts.alert_key = tickets.alert_key
  AND resolved_at IS NULL AND (acknowledged_at IS NULL OR acknowledged_at < answered_at)))`;

/** What triage has decided. */
const DECISION = "coalesce(answer, 'waits')";

type TicketFilter = Filter<
  {
    agentId: string;
    taskId: string;
    ticketId: string;
    waiting: true;
    state: 'waits' | 'intervene' | 'dismissed';
    severity: TicketSeverity;
  } & OfAgent &
    Span &
    Paged
>;

/** Tickets, newest first. `waiting`: those that wait for a person; `state`: what triage has decided, or that it has not yet. */
export const tickets = (sql: Sql, filter: TicketFilter): Promise<readonly TicketRow[]> => {
  const conditions = [
    when('agent_id = $?', filter.agentId),
    when('task_id = $?', filter.taskId),
    when('ticket_id = $?', filter.ticketId),
    when(`${DECISION} = $?`, filter.state),
    when('severity = $?', filter.severity),
    ...ofAgent('tickets', filter),
    when(`${WAITS} = $?`, filter.waiting),
    ...within('filed_at', filter),
    afterPlace(TICKET_ORDER, filter.after),
  ];
  return list(sql, ticket, 'tickets', conditions, orderBy(TICKET_ORDER), filter.limit ?? MOST_ROWS);
};
