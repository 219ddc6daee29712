import { type Codec, catalogue, type HealthEvent, ID, ID_FORM, type TopicName } from '@vigil/events';
import { DeadLetter } from '../errors.ts';
import type { Headers, LogRecord, OutRecord } from './log.ts';
import { partitionOf, positionOf } from './partitioner.ts';

/** The header of a record that was moved to its partition, or replayed: when it was first received, epoch milliseconds. */
export const MOVED = 'moved';

/** The header of a record that was moved to its partition: the number of the partition that it was written to. */
const MOVED_FROM = 'moved-from';

/** When the broker first received it. A moved record cannot have been received after it was written again. */
export const receivedAt = (record: LogRecord): number => {
  const moved = Number(record.headers[MOVED]);
  return moved > 0 ? Math.min(moved, record.timestamp) : record.timestamp;
};

/**
 * The ingress of a record that was moved from another partition. Its agents are watched while that partition is read.
 */
export const partitionIngress = (partition: number): string => `partition:${partition}`;

/** The ingress that the headers of a record name; null if the record was written to its own partition. */
export const throughPartition = ({ [MOVED_FROM]: from }: Headers): string | null =>
  from !== undefined && /^\d{1,5}$/.test(from) ? partitionIngress(Number(from)) : null;

export const isCommand = (topic: string): boolean =>
  (catalogue as Readonly<Record<string, { kind: string }>>)[topic]?.kind === 'cmd' || topic.startsWith('onex.cmd.');

/**
 * The limit of a record on a command topic, bytes. A moved record gets one more header and is compressed again, so this
 * is below the topic's 512 KiB.
 */
export const LARGEST_COMMAND = 500_000;

const sizeOf = ({ value, headers }: LogRecord): number => (value?.length ?? 0) + JSON.stringify(headers).length;

/**
 * The record to write again if another partitioner misplaced it; undefined if its partition is right. Throws DeadLetter
 * if it has no valid key, or is too large to be written again.
 */
export const misplaced = (record: LogRecord, partitions: number): OutRecord | undefined => {
  const { topic, key, value, headers } = record;
  if (key === null) throw new DeadLetter('no_key', 'the record has no key');
  if (!ID.test(key)) throw new DeadLetter('bad_key', `the key is ${JSON.stringify(key.slice(0, 140))}: use ${ID_FORM}`);
  if (!isCommand(topic)) return undefined;
  const partition = partitionOf(key, partitions);
  if (partition === record.partition) return undefined;
  const size = sizeOf(record);
  if (size > LARGEST_COMMAND)
    throw new DeadLetter(
      'too_large',
      `the record of ${key} lies in partition ${record.partition} instead of ${partition} and has ${size} bytes: at most ${LARGEST_COMMAND} are moved`,
    );
  const moved = { [MOVED]: String(receivedAt(record)), [MOVED_FROM]: String(record.partition) };
  return { topic, partition, key, value, headers: { ...headers, ...moved } };
};

/**
 * When the recorded fact occurred, by broker time: for a command, when the broker received it; for an event, when its
 * decider emitted it. 0 if the time is not Vigil's.
 */
export const happenedAt = (record: LogRecord, { version, occurredAt }: HealthEvent): number => {
  if (isCommand(record.topic)) return receivedAt(record);
  return typeof version === 'number' ? occurredAt : 0;
};

type Read = { readonly type: string; readonly payload: unknown };
/** Decoders for topics that do not use the codec. */
export type Decoders = { readonly [topic: string]: ((record: LogRecord, codec: Codec) => Read) | undefined };

/**
 * Decodes a record. A record without an envelope gets one made from its position. Throws DeadLetter, Undecodable,
 * UnknownSchemaId.
 */
export const eventOf = (record: LogRecord, codec: Codec, decoders: Decoders = {}): HealthEvent => {
  if (record.value === null) throw new DeadLetter('no_value', 'the record has no value');
  const own = decoders[record.topic];
  const { type, payload, envelope } =
    own === undefined
      ? codec.decode(record.topic as TopicName, record.value)
      : { ...own(record, codec), envelope: null };
  const id = positionOf(record);
  const flat = {
    eventId: id,
    stateKey: null,
    version: null,
    epoch: null,
    occurredAt: receivedAt(record),
    correlationId: id,
    causationId: null,
    policy: null,
  };
  return { ...(envelope ?? flat), topic: record.topic, type, key: record.key, payload } as HealthEvent;
};
