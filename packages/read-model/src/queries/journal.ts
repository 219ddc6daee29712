import type { Evidence, HealthState } from '@vigil/events';
import type { Sql } from '../apply.ts';
import { column, type Filter, list, type RowOf, type Span, when, within } from './select.ts';

/** One line of a story: `payload` is the event's, or a receipt's. */
export const entry = {
  eventId: column<string>(),
  at: column<number>('occurred_at'),
  type: column<string>(),
  agentId: column<string | null>(),
  taskId: column<string | null>(),
  caseId: column<string | null>(),
  payload: column<Readonly<Record<string, unknown>>>(),
};
export type Entry = RowOf<typeof entry>;

type StoryFilter = Filter<{ agentId: string; taskId: string } & Span> & { readonly limit: number };

/** The newest `limit` entries, oldest first. */
export const story = async (sql: Sql, filter: StoryFilter): Promise<readonly Entry[]> => {
  const conditions = [
    when('agent_id = $?', filter.agentId),
    when('task_id = $?', filter.taskId),
    ...within('occurred_at', filter),
  ];
  const order = 'occurred_at DESC, event_order DESC, event_id DESC';
  const newest = await list(sql, entry, 'story', conditions, order, filter.limit);
  return newest.toReversed();
};

const transition = {
  eventId: column<string>(),
  agentId: column<string>(),
  instanceId: column<string | null>(),
  taskId: column<string | null>(),
  episodeId: column<string | null>(),
  occurredAt: column<number>(),
  stateFrom: column<HealthState>(),
  stateTo: column<HealthState>(),
  reason: column<string>(),
  exemption: column<string | null>(),
  endReason: column<string | null>(),
  onsetAt: column<number | null>(),
  evidence: column<readonly Evidence[]>(),
  policyName: column<string | null>(),
  policyHash: column<string | null>(),
};
export type TransitionRow = RowOf<typeof transition>;

/** Changes of state, newest first. */
export const transitions = (
  sql: Sql,
  filter: Filter<{ agentId: string }> & { readonly limit: number },
): Promise<readonly TransitionRow[]> => {
  const conditions = [when('agent_id = $?', filter.agentId)];
  return list(sql, transition, 'transitions', conditions, 'occurred_at DESC, event_order DESC', filter.limit);
};
