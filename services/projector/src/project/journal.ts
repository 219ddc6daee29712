import type { TopicName } from '@vigil/events';
import { instant, orderOf, type Statement } from '@vigil/read-model';
import type { PlacedEvent } from '@vigil/stream';

type About = {
  readonly agentId?: string | null;
  readonly instanceId?: string | null;
  readonly taskId?: string | null;
  readonly episodeId?: string | null;
  readonly caseId?: string | null;
};

/**
 * Fields that have a row of their own (a case its plan), or that are long and the same in every event of an episode.
 */
const KEPT_ELSEWHERE = new Set(['plan', 'recovery', 'lastOutput']);

/** The event itself, as a line of the story of its subject. */
export function journal(event: PlacedEvent<TopicName>): Statement {
  const about = event.payload as About;
  return {
    kind: 'fact',
    table: 'journal',
    key: { event_id: event.eventId },
    columns: {
      topic: event.topic,
      type: event.type,
      agent_id: about.agentId ?? null,
      instance_id: about.instanceId ?? null,
      task_id: about.taskId ?? null,
      episode_id: about.episodeId ?? null,
      case_id: about.caseId ?? null,
      occurred_at: instant(event.occurredAt),
      event_order: orderOf(event),
      correlation_id: event.correlationId,
      policy_name: event.policy?.name ?? null,
      policy_hash: event.policy?.hash ?? null,
      payload: Object.fromEntries(Object.entries(event.payload).filter(([name]) => !KEPT_ELSEWHERE.has(name))),
    },
  };
}

/** A story line and nothing else. */
export const journalOnly = (event: PlacedEvent<TopicName>): readonly Statement[] => [journal(event)];
