import { type Codec, catalogue, type Draft, type Envelope, type HealthEvent } from '@vigil/events';
import { DeadLetter } from '../errors.ts';
import { isCommand, LARGEST_COMMAND } from '../log/inputs.ts';
import type { LogRecord, OutRecord } from '../log/log.ts';
import { eventId, partitionOf, positionOf } from '../log/partitioner.ts';

/** What a draft becomes an event by. `input` null: a deadline that the tick `record` has passed. */
export type Cause = { readonly record: LogRecord; readonly input: HealthEvent | null };

/** Where drafts come from and go to. */
export type RecordEncoding = {
  readonly processor: string;
  readonly writes: readonly string[];
  readonly codec: Codec;
  readonly partitions: (topic: string) => number;
};

type Numbered = Pick<Envelope, 'stateKey' | 'version' | 'epoch'>;

/** Whether events of the topic carry an envelope, and so count in `version`. */
export const hasEnvelope = (topic: string): boolean =>
  (catalogue as Readonly<Record<string, { envelope: boolean }>>)[topic]?.envelope ?? true;

export const causationOf = ({ record, input }: Cause): string => input?.eventId ?? positionOf(record);

/** https://www.w3.org/TR/trace-context/#traceparent-header-field-values */
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Every event that follows repeats the header: only a trace context is passed on, and that has 55 characters. */
const headersOf = ({ headers: { traceparent } }: LogRecord) =>
  traceparent !== undefined && TRACEPARENT.test(traceparent) ? { headers: { traceparent } } : {};

/** The largest record that a broker accepts by default, less the room for its frame; bytes. */
const LARGEST_EVENT = 1_000_000;

/**
 * A draft as the record that is written. `now`: the time of the partition; `at`: when it occurred. `at` is later
 * where the partition's time is behind its cause, so that no effect is dated before its cause. Throws where
 * the draft is not an event of a declared topic: a mistake of the decider; and DeadLetter where the event is larger
 * than a broker takes.
 */
export const encodeDraft = (
  encoding: RecordEncoding,
  draft: Draft,
  cause: Cause,
  about: Numbered & {
    readonly ordinal: number;
    readonly at: number;
    readonly now: number;
    readonly correlationId: string;
  },
): OutRecord => {
  if (!encoding.writes.includes(draft.topic)) throw new Error(`${encoding.processor} does not declare ${draft.topic}`);
  const { topic, partition, offset } = cause.record;
  const value = encoding.codec.encode({
    ...draft,
    eventId: eventId(encoding.processor, topic, partition, offset, about.stateKey ?? '', about.ordinal),
    stateKey: about.stateKey,
    version: about.version,
    epoch: about.epoch,
    occurredAt: about.at,
    correlationId: draft.correlationId ?? about.correlationId,
    causationId: causationOf(cause),
    policy: draft.policy ?? null,
  });
  const most = isCommand(draft.topic) ? LARGEST_COMMAND : LARGEST_EVENT;
  if (value.length > most)
    throw new DeadLetter('too_large', `${draft.type} would have ${value.length} bytes: ${draft.topic} takes ${most}`);
  const to = partitionOf(draft.key, encoding.partitions(draft.topic));
  return { topic: draft.topic, partition: to, key: draft.key, value, timestamp: about.now, ...headersOf(cause.record) };
};
