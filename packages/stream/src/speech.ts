import type { Codec, Draft, Envelope, HealthEvent } from '@vigil/events';
import { catalogue } from '@vigil/events';
import { eventId, positionOf } from './ids.ts';
import type { LogRecord, OutRecord } from './log.ts';
import { partitionOf } from './murmur2.ts';

/** What a draft becomes an event by. `input` null: a deadline that the tick `record` has passed. */
export type Cause = { readonly record: LogRecord; readonly input: HealthEvent | null };

/** Where drafts come from and go to. */
export type Speaker = {
  readonly processor: string;
  readonly writes: readonly string[];
  readonly codec: Codec;
  readonly partitions: (topic: string) => number;
};

type Numbered = Pick<Envelope, 'stateKey' | 'version' | 'epoch'>;

/** Whether events of the topic carry an envelope, and so count in `version`. */
export const enveloped = (topic: string): boolean =>
  (catalogue as Readonly<Record<string, { envelope: boolean }>>)[topic]?.envelope ?? true;

export const causationOf = ({ record, input }: Cause): string => input?.eventId ?? positionOf(record);

const headersOf = (record: LogRecord) =>
  record.headers.traceparent === undefined ? {} : { headers: { traceparent: record.headers.traceparent } };

/**
 * A draft as the record that is written. `now`: the time that it carries on; `at`: when it occurred, later where the time of this
 * partition is behind that of what it answers, so that no effect is dated before its cause. Throws where the draft is not an event of a
 * declared topic: a mistake of the decider.
 */
export const speak = (
  speaker: Speaker,
  draft: Draft,
  cause: Cause,
  said: Numbered & {
    readonly ordinal: number;
    readonly at: number;
    readonly now: number;
    readonly correlationId: string;
  },
): OutRecord => {
  if (!speaker.writes.includes(draft.topic)) throw new Error(`${speaker.processor} does not declare ${draft.topic}`);
  const { topic, partition, offset } = cause.record;
  const value = speaker.codec.encode({
    ...draft,
    eventId: eventId(speaker.processor, topic, partition, offset, said.stateKey ?? '', said.ordinal),
    stateKey: said.stateKey,
    version: said.version,
    epoch: said.epoch,
    occurredAt: said.at,
    correlationId: draft.correlationId ?? said.correlationId,
    causationId: causationOf(cause),
    policy: draft.policy ?? null,
  });
  const to = partitionOf(draft.key, speaker.partitions(draft.topic));
  return { topic: draft.topic, partition: to, key: draft.key, value, timestamp: said.now, ...headersOf(cause.record) };
};
