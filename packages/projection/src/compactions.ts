import { Topic, type TopicName } from '@vigil/events';
import { type ContextRow, contexts, fact, orderOf, type Sql, type Statement } from '@vigil/read-model';
import type { PlacedEvent } from '@vigil/stream';
import type { Placed } from './project/handlers.ts';

type Heartbeat = Placed<typeof Topic.agentObservation, 'AGENT_HEARTBEAT'>;

/** A context that loses more than this share of its room between two heartbeats was compacted. */
const COMPACTED = 0.25;

const shareOf = (used: number | null, max: number | null): number | null =>
  used === null || max === null || max <= 0 ? null : used / max;

const contextAfter = (event: Heartbeat): ContextRow => {
  const { agent_id: agentId, instance_id: instanceId, context } = event.payload;
  const reported = { used: context?.tokens_used ?? null, max: context?.tokens_max ?? null };
  return { agentId, instanceId, order: orderOf(event), ...reported };
};

/** Whether the context of one instance has become much smaller. A new instance begins with a small one. */
const isCompaction = (before: ContextRow, after: ContextRow): boolean => {
  const [earlier, later] = [shareOf(before.used, before.max), shareOf(after.used, after.max)];
  if (earlier === null || later === null || before.instanceId !== after.instanceId) return false;
  return earlier - later > COMPACTED;
};

/**
 * The compactions that these heartbeats show. `before`: the contexts as the rows have them. A heartbeat that they have
 * already, because a topic is read again, shows none: it was written together with its compaction.
 */
export const compactionsIn = (
  heartbeats: readonly Heartbeat[],
  before: readonly ContextRow[],
): readonly Statement[] => {
  const known = new Map(before.map((row) => [row.agentId, row]));
  return heartbeats.flatMap((event) => {
    const after = contextAfter(event);
    const earlier = known.get(after.agentId);
    if (earlier !== undefined && earlier.order >= after.order) return [];
    known.set(after.agentId, after);
    if (earlier === undefined || !isCompaction(earlier, after)) return [];
    const { eventId, occurredAt, payload } = event;
    const about = {
      eventId,
      occurredAt,
      agentId: after.agentId,
      instanceId: after.instanceId,
      taskId: payload.task_id,
    };
    const figures = { usedBefore: earlier.used ?? 0, usedAfter: after.used ?? 0, contextMax: after.max ?? 0 };
    return [fact('compactions', { ...about, ...figures })];
  });
};

const isHeartbeat = (event: PlacedEvent<TopicName>): event is Heartbeat =>
  event.topic === Topic.agentObservation && event.type === 'AGENT_HEARTBEAT';

/** The compactions that these events show, beside the rows of one event: they compare a heartbeat with the one before. */
export const compactions = async (
  sql: Sql,
  events: readonly PlacedEvent<TopicName>[],
): Promise<readonly Statement[]> => {
  const heartbeats = events.filter(isHeartbeat);
  const reporting = heartbeats.filter(({ payload }) => payload.context !== null);
  if (reporting.length === 0) return [];
  const agentIds = [...new Set(reporting.map(({ payload }) => payload.agent_id))];
  return compactionsIn(heartbeats, await contexts(sql, agentIds));
};
