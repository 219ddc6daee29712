import { Topic, type TopicName } from '@vigil/events';
import { ANSWERS, fact, type Statement } from '@vigil/read-model';
import type { PlacedEvent } from '@vigil/stream';
import { journalValues } from './handlers.ts';

/** The event as the answer to the command that caused it, if it is one. */
export const outcome = (event: PlacedEvent<TopicName>): readonly Statement[] => {
  const { topic, type } = event;
  const answers: Readonly<Record<string, unknown>> = ANSWERS[topic] ?? {};
  const commandId = commandOf(event);
  if (commandId === null || answers[type] === undefined) return [];
  return [fact('outcomes', { ...journalValues(event), commandId })];
};

/** The evaluator reads a command through ingest. So its answer has the command as the first event of its chain. */
const commandOf = ({ topic, causationId, correlationId }: PlacedEvent<TopicName>): string | null =>
  topic === Topic.agentHealth ? correlationId : causationId;
