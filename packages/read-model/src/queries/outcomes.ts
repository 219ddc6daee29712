import type { Sql } from '../apply.ts';
import { type Entry, entry } from './journal.ts';
import { listed, select } from './select.ts';

/**
 * The events of a command so far, oldest first: its answers, and the steps, ordered ends and starts and receipts of the
 * case that a request of a person opens. Answers to other commands about that case, which have chains of their own, are
 * none of them. After the case of a recovery there is what recovery does with the task. A test of a channel has its
 * deliveries, and the alerts about its failing sinks.
 */
export const outcomes = (sql: Sql, commandId: string): Promise<readonly Entry[]> =>
  select<Entry>(
    sql,
    `SELECT ${listed({ ...entry, at: { sql: 'occurred_at' } })} FROM (
       SELECT event_id, occurred_at, type, agent_id, task_id, case_id, payload, event_order FROM outcomes
       WHERE command_id = $1
       UNION
       SELECT event_id, occurred_at, type, agent_id, task_id, case_id, payload, event_order FROM journal
       WHERE case_id = 'case-' || $1 AND type <> 'ESCALATION_DECIDED'
         AND (type NOT IN ('DECISION_REFUSED', 'RECOVERY_REFUSED') OR correlation_id = $1)
       UNION
       SELECT j.event_id, j.occurred_at, j.type, c.agent_id, j.task_id, j.case_id, j.payload, j.event_order
       FROM cases c JOIN journal j ON j.task_id = c.task_id AND j.occurred_at >= c.closed_at
       WHERE c.case_id = 'case-' || $1 AND c.ending = 'executed' AND c.plan @> '[{"step": "recover"}]'
         AND j.type IN ('RECOVERY_INITIATED', 'RECOVERY_COMPLETED', 'RECOVERY_FAILED', 'REVIEW_REQUIRED',
                        'RECOVERY_WAITING', 'SPAWN_IMPOSSIBLE', 'TASK_RELEASED')
       UNION
       SELECT r.order_id || '/' || r.outcome, r.recorded_at, 'ORDER_RECEIPT', o.agent_id, o.task_id, o.case_id,
              r.details, r.order_id || '/' || r.outcome
       FROM receipts r JOIN orders o USING (order_id) WHERE o.case_id = 'case-' || $1
       UNION
       SELECT order_id, issued_at, kind, agent_id, task_id, case_id, details, order_id
       FROM orders WHERE case_id = 'case-' || $1 AND kind IN ('TERMINATE_AGENT', 'SPAWN_AGENT')
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
