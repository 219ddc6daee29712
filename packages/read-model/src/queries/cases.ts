import type { Evidence, HealthState } from '@vigil/events';
import type { Sql } from '../apply.ts';
import { type Entry, entry } from './journal.ts';
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
  within,
} from './select.ts';

export type Withheld = { readonly step: string; readonly why: string; readonly detail: string };

export const WAITING: string = `closed_order IS NULL AND step IS NOT DISTINCT FROM 'ESCALATION_TRIGGERED'`;

/** The withheld step of an open case; null without one. */
export const WITHHELD: string = `CASE WHEN closed_order IS NULL AND step IS NOT DISTINCT FROM 'CASE_WITHHELD'
  THEN jsonb_build_object('step', withheld_step, 'why', withheld_why, 'detail', withheld_detail) END`;

/** The end of the time that a person has granted, while nothing else has happened since. */
const MORE_TIME_UNTIL = `CASE WHEN closed_order IS NULL AND step = 'ESCALATION_DECIDED' AND decision = 'allow_more_time'
  THEN (SELECT s.occurred_at + (s.payload ->> 'forMs')::bigint * interval '1 millisecond' FROM case_steps s
        WHERE s.case_id = cases.case_id AND s.type = 'ESCALATION_DECIDED' ORDER BY s.event_order DESC LIMIT 1) END`;

const caseColumns = {
  caseId: column<string>(),
  agentId: column<string>(),
  instanceId: column<string | null>(),
  taskId: column<string | null>(),
  episodeId: column<string | null>(),
  warrantId: column<string | null>(),
  requestedBy: column<string | null>(),
  state: column<HealthState>(),
  axes: column<readonly string[]>(),
  planName: column<string>(),
  plan: column<unknown>(),
  runtimeId: column<string | null>(),
  evidence: column<readonly Evidence[]>(),
  note: column<string | null>(),
  openedAt: column<number>(),
  policyName: column<string | null>(),
  policyHash: column<string | null>(),
  step: column<string | null>(),
  stepAt: column<number | null>(),
  waiting: column<boolean>(WAITING),
  /** the step that the governor withholds now, and the reason; null without one */
  withheld: column<Withheld | null>(WITHHELD),
  /** when it asked people last; null: never */
  escalationAt: column<number | null>(),
  escalationReason: column<string | null>(),
  escalationOptions: column<readonly string[]>("coalesce(escalation_options, '[]')"),
  escalationDeadlineAt: column<number | null>(),
  escalationOnTimeout: column<string | null>(),
  decision: column<string | null>(),
  decisionBy: column<string | null>(),
  decisionWhy: column<string | null>(),
  decisionAt: column<number | null>(),
  /** until when a person has granted more time; null: the case has no such time, or continues */
  moreTimeUntil: column<number | null>(MORE_TIME_UNTIL),
  closedAt: column<number | null>(),
  ending: column<string | null>(),
  closedWhy: column<string | null>(),
};
export type CaseRow = RowOf<typeof caseColumns>;
export type CaseStory = CaseRow & { readonly trail: readonly Entry[] };

/** `policyName`: under which it was opened. */
type CaseFilter = Filter<
  { caseId: string; agentId: string; taskId: string; policyName: string; state: string; open: boolean } & Omit<
    OfAgent,
    'policy'
  > &
    Span &
    Paged
>;

/** [0 for one that waits, minus its opening, its id] */
export const CASE_ORDER: Order<CaseRow> = [
  [`CASE WHEN ${WAITING} THEN 0 ELSE 1 END`, 'bigint', ({ waiting }) => (waiting ? 0 : 1)],
  newestFirst('opened_at', ({ openedAt }) => openedAt),
  ['case_id', 'text', ({ caseId }) => caseId],
];

/** Cases: those that wait for a person first, then the newest. */
export const cases = (sql: Sql, filter: CaseFilter): Promise<readonly CaseRow[]> => {
  const conditions = [
    ['opened_order IS NOT NULL'] as const,
    when('case_id = $?', filter.caseId),
    when('agent_id = $?', filter.agentId),
    when('task_id = $?', filter.taskId),
    when('policy_name = $?', filter.policyName),
    when('state = $?', filter.state),
    when('(closed_order IS NULL) = $?', filter.open),
    ...ofAgent('cases', filter),
    ...within('opened_at', filter),
    afterPlace(CASE_ORDER, filter.after),
  ];
  return list(sql, caseColumns, 'cases', conditions, orderBy(CASE_ORDER), filter.limit ?? MOST_ROWS);
};

// Within one millisecond: admissions, then decisions, then orders, then outcomes.
const TRAIL = `
SELECT ${listed({ ...entry, at: column('at') })} FROM (
  SELECT event_id, occurred_at AS at, type, agent_id, task_id, case_id, payload, event_order AS place,
         CASE emitted_by WHEN 'governor' THEN 0 WHEN 'case' THEN 1 ELSE 4 END AS rank
  FROM (SELECT s.*, NULL::text AS task_id FROM case_steps s WHERE case_id = $1) steps
  UNION ALL
  SELECT order_id, issued_at, kind, agent_id, task_id, case_id, details, order_id, 2 FROM orders WHERE case_id = $1
  UNION ALL
  SELECT r.order_id || '/' || r.outcome, r.recorded_at, 'ORDER_RECEIPT', o.agent_id, o.task_id, o.case_id, r.details,
         r.order_id || '/' || r.outcome, 3
  FROM receipts r JOIN orders o USING (order_id) WHERE o.case_id = $1
) trail ORDER BY trail.at, rank, place
`;

/** A complete case: evidence, rulings, steps, orders, receipts, decisions and ending, in chronological order. */
export const caseStory = async (sql: Sql, caseId: string): Promise<CaseStory | null> => {
  const [found] = await cases(sql, { caseId });
  if (found === undefined) return null;
  return { ...found, trail: await select<Entry>(sql, TRAIL, [caseId]) };
};

const order = {
  orderId: column<string>(),
  kind: column<string>(),
  agentId: column<string>(),
  instanceId: column<string | null>(),
  runtimeId: column<string>(),
  caseId: column<string | null>(),
  taskId: column<string | null>(),
  number: column<number>(),
  ttlMs: column<number>(),
  issuedAt: column<number>(),
  receipts: column<readonly { readonly outcome: string; readonly why: string | null; readonly at: number }[]>(
    `coalesce((SELECT jsonb_agg(jsonb_build_object('outcome', outcome, 'why', why,
                                'at', (extract(epoch FROM at) * 1000)::bigint) ORDER BY at, outcome)
               FROM receipts r WHERE r.order_id = o.order_id), '[]')`,
  ),
};
export type OrderRow = RowOf<typeof order>;

/** Orders with their receipts, oldest first. */
export const orders = (sql: Sql, filter: Filter<{ agentId: string; taskId: string }>): Promise<readonly OrderRow[]> => {
  const conditions = [when('agent_id = $?', filter.agentId), when('task_id = $?', filter.taskId)];
  return list(sql, order, 'orders o', conditions, 'issued_at, number, order_id', 1000);
};
