import { type Codec, catalogue, type Draft, type Envelope, type HealthEvent } from '@vigil/events';
import { DeadLetter } from '../errors.ts';
import { isCommand, LARGEST_COMMAND } from '../log/inputs.ts';
import type { LogRecord, OutRecord } from '../log/log.ts';
import { eventId, partitionOf, positionOf } from '../log/partitioner.ts';

/** The cause of an event. `input` null: a deadline that the tick `record` has fired. */
export type Cause = { readonly record: LogRecord; readonly input: HealthEvent | null };

/** The context in which drafts become events. */
export type RecordEncoding = {
  readonly processor: string;
  readonly writes: readonly string[];
  readonly codec: Codec;
  readonly partitions: (topic: string) => number;
};

type Numbered = Pick<Envelope, 'stateKey' | 'version' | 'epoch'>;

/** Whether events of the topic have an envelope, and therefore a `version`. */
export const hasEnvelope = (topic: string): boolean =>
  (catalogue as Readonly<Record<string, { envelope: boolean }>>)[topic]?.envelope ?? true;

export const causationOf = ({ record, input }: Cause): string => input?.eventId ?? positionOf(record);

/** The largest record that a broker accepts by default, without its frame; bytes. */
const LARGEST_EVENT = 1_000_000;

/**
 * Encodes a draft as a record. `now`: the time of the partition; `at`: when the event occurred. `at` is later if the
 * partition's time is behind the cause, so that no effect is dated before its cause. Throws if the draft's topic is not
 * declared, which is a mistake of the decider. Throws DeadLetter if the event is too large for a broker.
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
    /** the trace that the event continues; undefined: none */
    readonly traceparent: string | undefined;
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
    throw new DeadLetter('too_large', `${draft.type} would have ${value.length} bytes: ${draft.topic} accepts ${most}`);
  const to = partitionOf(draft.key, encoding.partitions(draft.topic));
  const record = { topic: draft.topic, partition: to, key: draft.key, value, timestamp: about.now };
  return about.traceparent === undefined ? record : { ...record, headers: { traceparent: about.traceparent } };
};
