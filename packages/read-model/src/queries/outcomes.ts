import type { Sql } from '../apply.ts';
import { type Entry, entry } from './journal.ts';
import { listed, select } from './select.ts';

/**
 * The events of a command so far, oldest first: its answers, and the steps, ordered ends and receipts of the case that a
 * request of a person opens. A test of a channel has its deliveries, and the alerts about its failing sinks.
 */
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
       UNION
       SELECT order_id, issued_at, 'TERMINATE_AGENT', agent_id, task_id, case_id, details, order_id
       FROM orders WHERE case_id = 'case-' || $1 AND kind = 'TERMINATE_AGENT'
       UNION
       SELECT event_id, occurred_at, 'ALERT_DELIVERED', NULL, NULL, NULL,
              jsonb_build_object('sink', sink, 'ok', ok, 'detail', detail), event_id
       FROM deliveries WHERE alert_id = $1
       UNION
       SELECT f.alert_id, t.occurred_at, 'ALERT_DELIVERED', NULL, NULL, NULL,
              jsonb_build_object('sink', substring(f.alert_key from '[^:]+$'), 'ok', false, 'detail', f.text), f.alert_id
       FROM alerts f JOIN outcomes t
         ON t.command_id = $1 AND t.type = 'ALERT_RAISED' AND t.payload->>'route' = 'channel_test'
           AND jsonb_exists(t.payload->'sinks', substring(f.alert_key from '[^:]+$'))
       WHERE f.route = 'sink_failing' AND f.resolved_at IS NULL
     ) caused ORDER BY occurred_at, event_order, event_id`,
    [commandId],
  );
