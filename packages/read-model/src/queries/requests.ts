import type { QuestionAnswer, RequestChoice, RequestQuestion } from '@vigil/events';
import type { Sql } from '../apply.ts';
import { column, type Filter, list, listed, MOST_ROWS, type RowOf, select, when } from './select.ts';

const request = {
  requestId: column<string>(),
  agentId: column<string>(),
  instanceId: column<string | null>(),
  taskId: column<string | null>(),
  client: column<string>(),
  kind: column<'permission' | 'question' | 'UNKNOWN'>(),
  tool: column<string | null>(),
  text: column<string>(),
  options: column<readonly RequestChoice[]>("coalesce(choices, '[]')"),
  /** without options, an answer names each of them */
  questions: column<readonly RequestQuestion[]>("coalesce(opened_questions, '[]')"),
  deadlineAt: column<number>(),
  atDeadline: column<'no_decision' | 'allow' | 'UNKNOWN'>(),
  openedAt: column<number>(),
  /** how it ended; null: it waits */
  settled: column<'answered' | 'withdrawn' | 'expired' | null>(),
  /** the name of the option, or the answers in words */
  settledOption: column<string | null>(),
  /** the answer to each question; null: none has one */
  settledAnswers: column<readonly QuestionAnswer[] | null>(),
  settledBy: column<string | null>(),
  settledWhy: column<string | null>(),
  /** the command that decided it; null: none did */
  settledCommand: column<string | null>(),
  settledAt: column<number | null>(),
  /** the last answer that changed nothing; null: there was none */
  refusedCommand: column<string | null>(),
  refusedReason: column<string | null>(),
  refusedDetail: column<string | null>(),
};

/** A request of an agent to people. Times are epoch milliseconds. */
export type RequestRow = RowOf<typeof request>;

/** Requests, by their deadline. `limit`: the most rows. */
export const requests = (
  sql: Sql,
  filter: Filter<{ requestId: string; agentId: string; open: boolean; limit: number }>,
): Promise<readonly RequestRow[]> => {
  const conditions = [
    ['opened_order IS NOT NULL'] as const,
    when('request_id = $?', filter.requestId),
    when('agent_id = $?', filter.agentId),
    when('(settled_order IS NULL) = $?', filter.open),
  ];
  return list(sql, request, 'requests', conditions, 'deadline_at, request_id', filter.limit ?? MOST_ROWS);
};

/** The newest request of each of these agents, where its deadline has passed. The agent may still wait for the same answer. */
export const expiredRequests = (sql: Sql, agentIds: readonly string[]): Promise<readonly RequestRow[]> =>
  select<RequestRow>(
    sql,
    `SELECT ${listed(request)} FROM (
       SELECT DISTINCT ON (agent_id) * FROM requests
       WHERE agent_id = ANY($1) AND opened_order IS NOT NULL ORDER BY agent_id, opened_at DESC
     ) newest WHERE settled = 'expired'`,
    [agentIds],
  );
