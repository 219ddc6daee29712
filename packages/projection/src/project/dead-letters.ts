import type { EventOf, Topic } from '@vigil/events';
import { fact, type Statement } from '@vigil/read-model';
import type { Handlers } from './handlers.ts';

type DeadLetterTopic = {
  [K in keyof typeof Topic]: K extends `dlq${string}` ? (typeof Topic)[K] : never;
}[keyof typeof Topic];

const serviceOf = (topic: string): string => topic.split('.')[2] ?? topic;

const deadLetter = ({ eventId, topic, payload }: EventOf<DeadLetterTopic>): readonly Statement[] => {
  const { original_message: original } = payload;
  return [
    fact('dead_letters', {
      eventId,
      service: serviceOf(topic),
      originalTopic: payload.original_topic,
      originalPartition: original.partition,
      originalOffset: original.offset,
      originalKey: original.key,
      originalValue: original.value,
      truncated: original.truncated,
      originalAt: payload.original_timestamp,
      reason: payload.failure_reason,
      errorType: payload.error_type,
      failedAt: payload.failure_timestamp,
      retryCount: payload.retry_count,
      leftOut: payload.left_out,
      correlationId: payload.correlation_id,
    }),
  ];
};

/** The same for every service. */
export const deadLetters: Handlers<DeadLetterTopic> = { DEAD_LETTER: deadLetter };
