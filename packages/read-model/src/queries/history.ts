import type { Evidence, HealthState } from '@vigil/events';
import type { Sql } from '../apply.ts';
import {
  afterPlace,
  column,
  type Filter,
  list,
  MOST_ROWS,
  newestFirst,
  type Order,
  orderBy,
  type Paged,
  type RowOf,
  type Span,
  when,
  within,
} from './select.ts';

const happened = {
  kind: column<'state' | 'call' | 'compaction'>(),
  /** of the change, of the begin of the call, or of the compaction */
  at: column<number>(),
  /** with the kind, it names one entry */
  id: column<string>(),
  instanceId: column<string | null>(),
  taskId: column<string | null>(),
  /** of a change of state: the state after it, and the one before; else null */
  state: column<HealthState | null>(),
  stateFrom: column<HealthState | null>(),
  reason: column<string | null>(),
  /** of a change of state: each signal that fired, with its figure and its limit */
  evidence: column<readonly Evidence[]>("coalesce(evidence, '[]')"),
  /** of a call; else null */
  tool: column<string | null>(),
  outcome: column<'ok' | 'error' | 'running' | 'refused' | 'abandoned' | 'UNKNOWN' | null>(),
  errorClass: column<string | null>(),
  /** of a call; null: its end was not reported */
  endedAt: column<number | null>(),
  /** of a compaction: tokens of the context before it, after it, and at most; else null */
  usedBefore: column<number | null>(),
  usedAfter: column<number | null>(),
  contextMax: column<number | null>(),
};

/** What an agent did, and how it was judged. Instants are epoch milliseconds of the broker. */
export type HistoryRow = RowOf<typeof happened>;

const NOTHING = 'NULL::text AS tool, NULL::text AS outcome, NULL::text AS error_class, NULL::timestamptz AS ended_at';
const NO_STATE = 'NULL::text AS state, NULL::text AS state_from, NULL::text AS reason, NULL::jsonb AS evidence';
const NO_CONTEXT = 'NULL::bigint AS used_before, NULL::bigint AS used_after, NULL::bigint AS context_max';

// A call that was reported on two days has a row of each: the newest report counts, with the begin of the oldest.
const CALLS = `
SELECT DISTINCT ON (agent_id, instance_id, call_id)
       agent_id, instance_id, call_id, task_id, tool, outcome, error_class, ended_at,
       coalesce(started_at, min(begun_at) OVER one_call, ended_at, day_at) AS at
FROM calls WINDOW one_call AS (PARTITION BY agent_id, instance_id, call_id)
ORDER BY agent_id, instance_id, call_id, call_order DESC NULLS LAST`;

const HAPPENED = `(
SELECT 'state' AS kind, agent_id, occurred_at AS at, event_id AS id, instance_id, task_id,
       state_to AS state, state_from, reason, evidence, ${NOTHING}, ${NO_CONTEXT} FROM transitions
UNION ALL
SELECT 'call', agent_id, at, instance_id || '/' || call_id, nullif(instance_id, ''), task_id,
       ${NO_STATE}, tool, outcome, error_class, ended_at, ${NO_CONTEXT} FROM (${CALLS}) c
UNION ALL
SELECT 'compaction', agent_id, occurred_at, event_id, instance_id, task_id,
       ${NO_STATE}, ${NOTHING}, used_before, used_after, context_max FROM compactions
) happened`;

/** [minus its time, its kind, its id] */
export const HISTORY_ORDER: Order<HistoryRow> = [
  newestFirst('at', ({ at }) => at),
  ['kind', 'text', ({ kind }) => kind],
  ['id', 'text', ({ id }) => id],
];

/** The states, calls and compactions of an agent, or those of one kind, newest first, as far back as they are kept. */
export const history = (
  sql: Sql,
  { agentId, kind, ...filter }: Filter<Span & Paged & Pick<HistoryRow, 'kind'>> & { readonly agentId: string },
): Promise<readonly HistoryRow[]> => {
  const conditions = [
    ...[when('agent_id = $?', agentId), when('kind = $?', kind)],
    ...[...within('at', filter), afterPlace(HISTORY_ORDER, filter.after)],
  ];
  return list(sql, happened, HAPPENED, conditions, orderBy(HISTORY_ORDER), filter.limit ?? MOST_ROWS);
};
