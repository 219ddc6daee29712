import type { TopicName } from '@vigil/events';
import { ANSWERS, fact, type Statement } from '@vigil/read-model';
import type { PlacedEvent } from '@vigil/stream';
import { journalValues } from './handlers.ts';

/** The event as the answer to the command that caused it, if it is one. */
export const outcome = (event: PlacedEvent<TopicName>): readonly Statement[] => {
  const { topic, type, causationId } = event;
  const answers: Readonly<Record<string, unknown>> = ANSWERS[topic] ?? {};
  if (causationId === null || answers[type] === undefined) return [];
  return [fact('outcomes', { ...journalValues(event), commandId: causationId })];
};
