import type { Batch as ClientBatch, IHeaders, KafkaMessage, TopicMessages } from 'kafkajs';
import type { Headers, LogRecord, OutRecord } from '../log/log.ts';

const text = (value: IHeaders[string]): string => String(Array.isArray(value) ? (value[0] ?? '') : (value ?? ''));

const headersOf = (headers: IHeaders | undefined): Headers =>
  Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name, text(value)]));

/** Copies the value, so that a kept value does not keep the whole chunk in memory. */
export const fromClient = (topic: string, partition: number, message: KafkaMessage): LogRecord => ({
  topic,
  partition,
  offset: Number(message.offset),
  key: message.key === null ? null : message.key.toString(),
  value: message.value === null ? null : Buffer.from(message.value),
  timestamp: Number(message.timestamp),
  headers: headersOf(message.headers),
});

/** The client's types omit the offset at which the fetch began. */
export const fetchedOf = (batch: ClientBatch): number =>
  Number((batch as unknown as { readonly fetchedOffset: string }).fetchedOffset);

export const toClient = (records: readonly OutRecord[]): TopicMessages[] =>
  [...Map.groupBy(records, ({ topic }) => topic)].map(([topic, group]) => ({
    topic,
    messages: group.map(({ key, value, partition, timestamp, headers }) => ({
      key,
      value,
      partition,
      ...(timestamp === undefined ? {} : { timestamp: String(timestamp) }),
      ...(headers === undefined ? {} : { headers }),
    })),
  }));

/** Below 512 KiB, the limit of command topics: the broker counts a whole batch as one message. */
export const CHUNK_BYTES: number = 400 * 1024;

/** Bytes in a send, with 100 for the frame of each record. */
export const sizeOf = ({ key, value, headers = {} }: OutRecord): number => {
  const texts = [key ?? '', ...Object.entries(headers).flat()];
  return texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), value?.length ?? 0) + 100;
};

/** Splits records, in order, into sends that every topic accepts. */
export const chunked = (records: readonly OutRecord[]): readonly (readonly OutRecord[])[] => {
  const chunks: OutRecord[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const record of records) {
    bytes += sizeOf(record);
    if (bytes > CHUNK_BYTES) {
      chunks.push([]);
      bytes = sizeOf(record);
    }
    chunks.at(-1)?.push(record);
  }
  return chunks;
};
