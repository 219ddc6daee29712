import type { Sql } from '../apply.ts';
import type { BreakerRow, TicketRow } from '../rows/finding-rows.ts';
import { select, when, where } from './select.ts';

/** `tripsSince`: from when openings are counted, epoch milliseconds; without it, as far back as the journal goes. */
export type BreakerFilter = {
  readonly agentId?: string | undefined;
  readonly taskId?: string | undefined;
  readonly open?: boolean | undefined;
  readonly tripsSince?: number | undefined;
};

/** Breakers that have ever opened, those that are not closed first. */
export function breakers(sql: Sql, filter: BreakerFilter): Promise<readonly BreakerRow[]> {
  const { text, values } = where([
    when('agent_id = $?', filter.agentId),
    when('task_id = $?', filter.taskId),
    when(`(state = 'OPEN') = $?`, filter.open),
  ]);
  return select<BreakerRow>(
    sql,
    `SELECT name, agent_id, task_id, state, failures, next_attempt_at, breaker_since AS since,
       (SELECT count(*)::int FROM journal j
        WHERE j.type = 'CIRCUIT_BREAKER_STATE_CHANGED'
          AND CASE WHEN b.agent_id IS NULL THEN j.task_id = b.holder ELSE j.agent_id = b.holder END
          AND j.payload ->> 'name' = b.name AND j.payload ->> 'to' = 'OPEN'
          AND j.occurred_at >= to_timestamp($${values.length + 1}::double precision / 1000)) AS trips
     FROM breakers b ${text} ORDER BY state = 'CLOSED', breaker_since DESC, holder, name LIMIT 1000`,
    [...values, filter.tripsSince ?? 0],
  );
}

export type TicketFilter = {
  readonly agentId?: string | undefined;
  readonly ticketId?: string | undefined;
  readonly limit: number;
};

/** Tickets, the newest first. */
export function tickets(sql: Sql, filter: TicketFilter): Promise<readonly TicketRow[]> {
  const { text, values } = where([when('agent_id = $?', filter.agentId), when('ticket_id = $?', filter.ticketId)]);
  return select<TicketRow>(
    sql,
    `SELECT ticket_id, agent_id, instance_id, task_id, episode_id, coalesce(labels, '{}') AS labels, severity, ticket, findings,
       filed_at, answer, analysis, alert_key, answered_at
     FROM tickets ${text} ORDER BY filed_at DESC NULLS LAST, ticket_id LIMIT $${values.length + 1}`,
    [...values, filter.limit],
  );
}
