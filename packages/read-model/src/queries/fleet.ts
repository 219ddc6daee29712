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
  within,
} from './select.ts';

/** A ticket that asks for a look came after the alert was acknowledged: it waits in the inbox. */
const WAITS_AGAIN = `(a.resolved_at IS NULL AND a.acknowledged_at IS NOT NULL AND EXISTS (SELECT 1 FROM tickets
  WHERE tickets.alert_key = a.alert_key AND tickets.answer = 'intervene' AND tickets.answered_at > a.acknowledged_at))`;

const alert = {
  alertId: column<string>(),
  alertKey: column<string | null>(),
  route: column<string | null>(),
  severity: column<string | null>(),
  urgency: column<string | null>('content_urgency'),
  title: column<string | null>(),
  text: column<string | null>(),
  agentId: column<string | null>(),
  taskId: column<string | null>(),
  caseId: column<string | null>(),
  options: column<readonly string[]>("coalesce(options, '[]')"),
  deadlineAt: column<number | null>(),
  updatedAt: column<number | null>(),
  raisedAt: column<number | null>(),
  acknowledgedAt: column<number | null>(),
  acknowledgedBy: column<string | null>(),
  /** a later ticket waits in the inbox, so the acknowledgement does not count any more */
  waitsAgain: column<boolean>(WAITS_AGAIN),
  resolvedAt: column<number | null>(),
  deliveries: column<readonly { readonly sink: string; readonly ok: boolean; readonly detail: string | null }[]>(
    `coalesce((SELECT jsonb_agg(jsonb_build_object('sink', sink, 'ok', ok, 'detail', detail) ORDER BY occurred_at, event_id)
               FROM deliveries d WHERE d.alert_id = a.alert_id), '[]')`,
  ),
};
export type AlertRow = RowOf<typeof alert>;

/** How an alert stands. One that waits again is open. */
const STANDING = `CASE WHEN resolved_order IS NOT NULL THEN 'resolved' WHEN ${WAITS_AGAIN} THEN 'open'
  WHEN acknowledged_at IS NOT NULL THEN 'acknowledged' ELSE 'open' END`;

type AlertFilter = Filter<
  {
    agentId: string;
    taskId: string;
    open: boolean;
    state: 'open' | 'acknowledged' | 'resolved';
    severity: string;
  } & OfAgent &
    Span &
    Paged
>;

/** [1 for a resolved one, minus its time, its id] */
export const ALERT_ORDER: Order<AlertRow> = [
  ['CASE WHEN resolved_at IS NULL THEN 0 ELSE 1 END', 'bigint', ({ resolvedAt }) => (resolvedAt === null ? 0 : 1)],
  newestFirst('raised_at', ({ raisedAt }) => raisedAt),
  ['alert_id', 'text', ({ alertId }) => alertId],
];

/** Alerts: the unresolved first, then the newest. */
export const alerts = (sql: Sql, filter: AlertFilter): Promise<readonly AlertRow[]> => {
  const conditions = [
    when('agent_id = $?', filter.agentId),
    when('task_id = $?', filter.taskId),
    when('(resolved_order IS NULL) = $?', filter.open),
    when(`${STANDING} = $?`, filter.state),
    when('severity = $?', filter.severity),
    ...ofAgent('a', filter),
    ...within('raised_at', filter),
    afterPlace(ALERT_ORDER, filter.after),
  ];
  return list(sql, alert, 'alerts a', conditions, orderBy(ALERT_ORDER), filter.limit ?? MOST_ROWS);
};

const fleetColumns = {
  halted: column<boolean>('coalesce(halted, false)'),
  haltBy: column<string | null>(),
  haltWhy: column<string | null>(),
  haltAt: column<number | null>(),
  braked: column<boolean>('coalesce(braked, false)'),
  brakeScope: column<string | null>(),
  brakeAgents: column<readonly string[]>("coalesce(brake_agents, '[]')"),
  brakeWhy: column<string | null>(),
  brakeAt: column<number | null>(),
  dryRun: column<boolean>('coalesce(dry_run, false)'),
  dryRunBy: column<string | null>(),
  dryRunWhy: column<string | null>(),
};
export type FleetRow = RowOf<typeof fleetColumns>;

/** Halt, brake and dry run. */
export const fleet = async (sql: Sql): Promise<FleetRow> => {
  const from = '(SELECT 1) one LEFT JOIN fleet f ON true LIMIT 1';
  const [row] = await select<FleetRow>(sql, `SELECT ${listed(fleetColumns)} FROM ${from}`);
  return row as FleetRow;
};

const runtime = {
  runtimeId: column<string>(),
  host: column<string>(),
  capacity: column<number>(),
  agents: column<readonly string[]>(),
  labels: column<Readonly<Record<string, string>>>(),
  announcedAt: column<number>(),
};
type RuntimeRow = RowOf<typeof runtime>;

export const runtimes = (sql: Sql): Promise<readonly RuntimeRow[]> =>
  select<RuntimeRow>(sql, `SELECT ${listed(runtime)} FROM runtimes ORDER BY runtime_id`);

const deadLetter = {
  eventId: column<string>(),
  service: column<string>(),
  originalTopic: column<string>(),
  originalPartition: column<number>(),
  originalOffset: column<number>(),
  originalKey: column<string | null>(),
  /** the first 2 KiB, for people: bytes outside ASCII as \\ooo */
  preview: column<string | null>("encode(substring(original_value FOR 2048), 'escape')"),
  truncated: column<boolean>(),
  reason: column<string>(),
  errorType: column<string>(),
  /** the number of bad records that a minute left out, where this is their dead letter; else 0 */
  leftOut: column<number>(),
  failedAt: column<number | null>(),
};
export type DeadLetterRow = RowOf<typeof deadLetter>;

/** [minus its time, its id] */
export const LETTER_ORDER: Order<DeadLetterRow> = [
  newestFirst('failed_at', ({ failedAt }) => failedAt),
  ['event_id', 'text', ({ eventId }) => eventId],
];

/** Dead letters, newest first. */
export const deadLetters = (
  sql: Sql,
  filter: Filter<{ service: string } & Span & Paged>,
): Promise<readonly DeadLetterRow[]> => {
  const conditions = [
    when('service = $?', filter.service),
    ...within('failed_at', filter),
    afterPlace(LETTER_ORDER, filter.after),
  ];
  return list(sql, deadLetter, 'dead_letters', conditions, orderBy(LETTER_ORDER), filter.limit ?? MOST_ROWS);
};
