import type { Type } from 'avsc';
import { Undecodable, type UnknownSchemaId } from './errors.ts';
import type { Envelope } from './event.ts';
import type { TopicName } from './generated/catalogue.ts';
import type { Content } from './generated/types.ts';
import { type Reader, SchemaIds, type SchemaSource } from './schema-ids.ts';
import { type EventSchema, schemaOf, schemasOf, topicNames } from './schemas.ts';

/** The content of a record. A flat record (the heartbeat command) has no envelope. */
export type Decoded = { readonly type: string; readonly payload: unknown; readonly envelope: Envelope | null };

/** Events to bytes and back, framed as the registry's clients do: a zero byte, the schema id, Avro. Synchronous. */
export type Codec = {
  readonly encode: (event: Content & Partial<Envelope>) => Buffer;
  /**
   * Throws NewerEvent (skip the record), another Undecodable (a dead letter) or UnknownSchemaId (learn it, then decode
   * again).
   */
  readonly decode: (topic: TopicName, value: Buffer) => Decoded;
  /**
   * Fetches a schema from the registry. Throws Undecodable if the registry does not have the schema, or if it is not
   * Vigil's. Throws RegistryTrouble if the registry is unreachable.
   */
  readonly learn: (unknown: UnknownSchemaId) => Promise<void>;
};

const MAGIC = 0;
const FRAME = 5;

const scratch = { buffer: Buffer.allocUnsafe(64 * 1024) };

const encodeFramed = (type: Type, id: number, value: unknown): Buffer => {
  for (;;) {
    const end = type.encode(value, scratch.buffer, FRAME);
    if (end > 0) {
      scratch.buffer.writeUInt8(MAGIC, 0);
      scratch.buffer.writeInt32BE(id, 1);
      return Buffer.from(scratch.buffer.subarray(0, end));
    }
    scratch.buffer = Buffer.allocUnsafe(Math.max(scratch.buffer.length * 2, FRAME - end));
  }
};

const split = (schema: EventSchema, value: Record<string, unknown>): Decoded => {
  if (!schema.envelope) return { type: schema.type, payload: value, envelope: null };
  const { payload, ...envelope } = value;
  return { type: schema.type, payload, envelope: envelope as Envelope };
};

/**
 * A codec over known ids; other ids are looked up in `source`. `now`: the reading of a monotonic clock, milliseconds.
 */
export const createCodec = (ids: ReadonlyMap<EventSchema, number>, source: SchemaSource, now: () => number): Codec => {
  const met = new SchemaIds(ids, source, now);
  return {
    encode: (event) => {
      const schema = schemaOf(event.topic, event.type);
      const id = ids.get(schema);
      if (id === undefined) throw new Error(`the codec was opened without ${event.topic}: add it to its topics`);
      return encodeFramed(schema.avro, id, schema.envelope ? event : event.payload);
    },
    decode: (topic, value) => {
      if (value.length < FRAME || value[0] !== MAGIC)
        throw new Undecodable('not_avro', `${topic}: the value has no registry frame`);
      const id = value.readInt32BE(1);
      if (id < 1) throw new Undecodable('unknown_schema_id', `${topic}: ${id} is not a schema id: they begin with 1`);
      const reader = met.readerOf(topic, id);
      const read = tryDecode(reader, value, id);
      return split(reader.schema, read);
    },
    learn: ({ id }) => met.learn(id),
  };
};

const tryDecode = ({ schema, writer, resolver }: Reader, value: Buffer, id: number): Record<string, unknown> => {
  try {
    const { value: read, offset } =
      resolver === undefined ? writer.decode(value, FRAME) : schema.avro.decode(value, FRAME, resolver);
    if (offset !== value.length)
      throw new Error(offset < 0 ? 'it ends too early' : `${value.length - offset} bytes follow`);
    return read as Record<string, unknown>;
  } catch (error) {
    throw new Undecodable(
      'not_avro',
      `the value is not ${schema.record} as schema ${id} writes it: ${(error as Error).message}`,
    );
  }
};

/** A codec without a registry, for the in-memory log and for tests. Its ids are ordinals. */
export const memoryCodec = (): Codec => {
  const all = topicNames.flatMap((topic) => [...schemasOf(topic).values()]);
  return createCodec(
    new Map(all.map((schema, ordinal) => [schema, ordinal + 1])),
    async () => undefined,
    () => 0,
  );
};
