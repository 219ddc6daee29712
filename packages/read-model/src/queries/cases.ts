import type { Sql } from '../apply.ts';
import type { OrderRow } from '../rows/fleet-rows.ts';
import type { CaseRow, CaseStory, Entry } from '../rows/rows.ts';
import { select, when, where } from './select.ts';

export type CaseFilter = {
  readonly caseId?: string | undefined;
  readonly agentId?: string | undefined;
  readonly open?: boolean | undefined;
};

const WAITING = `closed_order IS NULL AND step IS NOT DISTINCT FROM 'ESCALATION_TRIGGERED'`;

/** The withheld step of an open case `c`; null: none is withheld. */
export const WITHHELD = (c: string): string =>
  `CASE WHEN ${c}.closed_order IS NULL AND ${c}.step IS NOT DISTINCT FROM 'CASE_WITHHELD'
        THEN jsonb_build_object('step', ${c}.withheld_step, 'why', ${c}.withheld_why, 'detail', ${c}.withheld_detail) END`;

const CASES = `
SELECT case_id, agent_id, instance_id, task_id, episode_id, warrant_id, requested_by, state, axes, plan_name, plan,
       runtime_id, evidence, note, opened_at, policy_name, policy_hash, step, step_at, ${WAITING} AS waiting,
       ${WITHHELD('cases')} AS withheld,
       escalation_reason, coalesce(escalation_options, '[]') AS escalation_options, escalation_deadline_at,
       escalation_on_timeout, decision, decision_by, decision_why, decision_at, closed_at, ending, closed_why
FROM cases
`;

/** Cases, what waits for a person first, then the newest. */
export function cases(sql: Sql, filter: CaseFilter): Promise<readonly CaseRow[]> {
  const { text, values } = where([
    ['opened_order IS NOT NULL'],
    when('case_id = $?', filter.caseId),
    when('agent_id = $?', filter.agentId),
    when('(closed_order IS NULL) = $?', filter.open),
  ]);
  const newest = 'opened_at DESC, opened_order DESC, case_id';
  return select<CaseRow>(sql, `${CASES} ${text} ORDER BY ${WAITING} DESC, ${newest} LIMIT 1000`, values);
}

// Within one millisecond: admissions, then decisions, then orders, then outcomes.
const TRAIL = `
SELECT event_id, at, type, agent_id, task_id, case_id, payload FROM (
  SELECT event_id, occurred_at AS at, type, agent_id, task_id, case_id, payload, event_order AS place,
         CASE said_by WHEN 'governor' THEN 0 WHEN 'case' THEN 1 ELSE 4 END AS rank
  FROM (SELECT s.*, NULL::text AS task_id FROM case_steps s WHERE case_id = $1) steps
  UNION ALL
  SELECT order_id, issued_at, kind, agent_id, task_id, case_id, details, order_id, 2 FROM orders WHERE case_id = $1
  UNION ALL
  SELECT r.order_id || '/' || r.outcome, r.recorded_at, 'ORDER_RECEIPT', o.agent_id, o.task_id, o.case_id, r.details,
         r.order_id || '/' || r.outcome, 3
  FROM receipts r JOIN orders o USING (order_id) WHERE o.case_id = $1
) trail ORDER BY at, rank, place
`;

/** A case read back whole: evidence, rulings, steps, orders, receipts, decisions, ending, in the order they happened. */
export async function caseStory(sql: Sql, caseId: string): Promise<CaseStory | null> {
  const [found] = await cases(sql, { caseId });
  if (found === undefined) return null;
  return { ...found, trail: await select<Entry>(sql, TRAIL, [caseId]) };
}

export type OrderFilter = { readonly agentId?: string | undefined; readonly taskId?: string | undefined };

/** Orders with their receipts, oldest first. */
export function orders(sql: Sql, filter: OrderFilter): Promise<readonly OrderRow[]> {
  const { text, values } = where([when('agent_id = $?', filter.agentId), when('task_id = $?', filter.taskId)]);
  return select<OrderRow>(
    sql,
    `SELECT order_id, kind, agent_id, instance_id, runtime_id, case_id, task_id, number, ttl_ms, issued_at,
       coalesce((SELECT jsonb_agg(jsonb_build_object('outcome', outcome, 'why', why,
                                  'at', (extract(epoch FROM at) * 1000)::bigint) ORDER BY at, outcome)
                 FROM receipts r WHERE r.order_id = o.order_id), '[]') AS receipts
     FROM orders o ${text} ORDER BY issued_at, number, order_id LIMIT 1000`,
    values,
  );
}
