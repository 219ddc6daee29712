import type { Sql } from '../apply.ts';
import { type Entry, entry } from './journal.ts';
import { listed, select } from './select.ts';

/** The events of a command so far, oldest first: its answers, and the steps and receipts of the case that a request of a person opens. */
export const outcomes = (sql: Sql, commandId: string): Promise<readonly Entry[]> =>
  select<Entry>(
    sql,
    `SELECT ${listed({ ...entry, at: { sql: 'occurred_at' } })} FROM (
       SELECT event_id, occurred_at, type, agent_id, task_id, case_id, payload, event_order FROM outcomes
       WHERE command_id = $1
       UNION
       SELECT event_id, occurred_at, type, agent_id, task_id, case_id, payload, event_order FROM journal
       WHERE case_id = 'case-' || $1
       UNION
       SELECT r.order_id || '/' || r.outcome, r.recorded_at, 'ORDER_RECEIPT', o.agent_id, o.task_id, o.case_id,
              r.details, r.order_id || '/' || r.outcome
       FROM receipts r JOIN orders o USING (order_id) WHERE o.case_id = 'case-' || $1
     ) caused ORDER BY occurred_at, event_order, event_id`,
    [commandId],
  );
