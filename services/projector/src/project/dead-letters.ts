import type { EventOf, Topic } from '@vigil/events';
import { instant, type Statement } from '@vigil/read-model';
import type { Handlers } from './handlers.ts';

type DeadLetterTopic = {
  [K in keyof typeof Topic]: K extends `dlq${string}` ? (typeof Topic)[K] : never;
}[keyof typeof Topic];

const serviceOf = (topic: string): string => topic.split('.')[2] ?? topic;

const deadLetter = (event: EventOf<DeadLetterTopic>): readonly Statement[] => {
  const { payload } = event;
  const { original_message: original } = payload;
  return [
    {
      kind: 'fact',
      table: 'dead_letters',
      key: { event_id: event.eventId },
      columns: {
        service: serviceOf(event.topic),
        original_topic: payload.original_topic,
        original_partition: original.partition,
        original_offset: original.offset,
        original_key: original.key,
        original_value: original.value,
        truncated: original.truncated,
        original_at: instant(payload.original_timestamp),
        reason: payload.failure_reason,
        error_type: payload.error_type,
        failed_at: instant(payload.failure_timestamp),
        retry_count: payload.retry_count,
        correlation_id: payload.correlation_id,
      },
    },
  ];
};

/** The same for every service. */
export const deadLetters: Handlers<DeadLetterTopic> = { DEAD_LETTER: deadLetter };
