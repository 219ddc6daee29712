import { Topic, type TopicName } from '@vigil/events';
import { ANSWERS, fact, type Statement } from '@vigil/read-model';
import type { PlacedEvent } from '@vigil/stream';
import { journalValues } from './handlers.ts';

/** The event as the answer to the commands that caused it, if it is one: to its own, and to the first of those written at once. */
export const outcome = (event: PlacedEvent<TopicName>): readonly Statement[] => {
  const { topic, type } = event;
  const answers: Readonly<Record<string, unknown>> = ANSWERS[topic] ?? {};
  if (answers[type] === undefined) return [];
  return [...commandsOf(event)].map((commandId) => fact('outcomes', { ...journalValues(event), commandId }));
};

/** The evaluator reads a command through ingest. So its answer has the command as the first event of its chain. */
const commandsOf = ({ topic, causationId, correlationId, payload }: PlacedEvent<TopicName>): ReadonlySet<string> => {
  const own = topic === Topic.agentHealth ? correlationId : causationId;
  const { groupId = null } = payload as { readonly groupId?: string | null };
  return new Set([own, groupId].filter((id) => id !== null));
};
