import type { Evidence, HealthState } from '@vigil/events';
import type { Sql } from '../apply.ts';
import {
  column,
  type Filter,
  list,
  type Order,
  orderBy,
  placeOf,
  type RowOf,
  type Span,
  when,
  within,
} from './select.ts';

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

/** An entry and its place among those of one moment. */
const placed = { ...entry, order: column<string>('event_order') };
type PlacedEntry = RowOf<typeof placed>;

/** A place in a story: the entry of this time, order and id. */
export type StoryPlace = Pick<PlacedEntry, 'at' | 'order' | 'eventId'>;

/** [its time, its order among those of one moment, its id]; a story begins with the last one. */
export const STORY_ORDER: Order<StoryPlace> = [
  ['occurred_at', 'bigint', ({ at }) => at],
  ['event_order', 'text', ({ order }) => order],
  ['event_id', 'text', ({ eventId }) => eventId],
];

/** The newest `limit` entries before a place, newest first. */
export const storyBefore = (
  sql: Sql,
  { before, ...filter }: StoryFilter & { readonly before: StoryPlace | null },
): Promise<readonly PlacedEntry[]> => {
  const place = before === null ? undefined : placeOf(STORY_ORDER, before).map(String);
  const conditions = [
    when('agent_id = $?', filter.agentId),
    when('task_id = $?', filter.taskId),
    ...within('occurred_at', filter),
    when(
      `(${orderBy(STORY_ORDER)}) <
       (to_timestamp(($?::text[])[1]::double precision / 1000), ($?::text[])[2], ($?::text[])[3])`,
      place,
    ),
  ];
  const newest = STORY_ORDER.map(([column]) => `${column} DESC`).join(', ');
  return list(sql, placed, 'story', conditions, newest, filter.limit);
};

/** The newest `limit` entries, oldest first. */
export const story = async (sql: Sql, filter: StoryFilter): Promise<readonly Entry[]> =>
  (await storyBefore(sql, { ...filter, before: null })).map(({ order: _, ...one }) => one).toReversed();

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
