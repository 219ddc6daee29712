import type { Resolver, Type } from 'avsc';
import { Undecodable, UnknownSchemaId } from './errors.ts';
import type { Envelope } from './event.ts';
import type { TopicName } from './generated/catalogue.ts';
import type { Content } from './generated/types.ts';
import { avroType, type EventSchema, schemaOf, schemasOf, topicNames } from './schemas.ts';

/** What the bytes of a record say. A flat contract (the heartbeat command) has no envelope. */
export type Decoded = { readonly type: string; readonly payload: unknown; readonly envelope: Envelope | null };

/** Events to bytes and back, framed as the registry's clients do: a zero byte, the schema id, Avro. Synchronous. */
export type Codec = {
  readonly encode: (event: Content & Partial<Envelope>) => Buffer;
  /** Throws Undecodable (a dead letter) or UnknownSchemaId (learn it, then decode again). */
  readonly decode: (topic: TopicName, value: Buffer) => Decoded;
  /** Asks the registry for a schema. Throws Undecodable where the registry does not know it either, RegistryTrouble where it is away. */
  readonly learn: (unknown: UnknownSchemaId) => Promise<void>;
};

type Reader = { readonly schema: EventSchema; readonly writer: Type; readonly resolver: Resolver | undefined };

const MAGIC = 0;
const FRAME = 5;

/** Looks a schema up by its id; undefined: there is none in Avro. */
export type SchemaSource = (id: number) => Promise<string | undefined>;

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

/** A codec over known ids; what other ids mean is asked of `source`. */
export const createCodec = (ids: ReadonlyMap<EventSchema, number>, source: SchemaSource): Codec => {
  const readers = new Map<number, Reader>();
  for (const [schema, id] of ids) readers.set(id, { schema, writer: schema.avro, resolver: undefined });
  const byRecord = new Map(
    [...topicNames.flatMap((topic) => [...schemasOf(topic).values()])].map((s) => [s.avro.name, s]),
  );

  return {
    encode: (event) => {
      const schema = schemaOf(event.topic, event.type);
      const id = ids.get(schema);
      if (id === undefined) throw new Error(`the codec was opened without ${event.topic}: name it among its topics`);
      return encodeFramed(schema.avro, id, schema.envelope ? event : event.payload);
    },
    decode: (topic, value) => {
      if (value.length < FRAME || value[0] !== MAGIC)
        throw new Undecodable('not_avro', `${topic}: the value has no registry frame`);
      const id = value.readInt32BE(1);
      if (id < 1) throw new Undecodable('unknown_schema_id', `${topic}: ${id} is no schema id: they begin with 1`);
      const reader = readers.get(id);
      if (reader === undefined) throw new UnknownSchemaId(id);
      if (reader.schema.topic !== topic)
        throw new Undecodable(
          'wrong_topic',
          `${reader.schema.record} (schema ${id}) belongs to ${reader.schema.topic}, not to ${topic}`,
        );
      const read = tryDecode(reader, value, id);
      return split(reader.schema, read);
    },
    learn: async ({ id }) => {
      const json = await source(id);
      if (json === undefined) throw new Undecodable('unknown_schema_id', `the registry knows no Avro schema ${id}`);
      readers.set(id, readerOf(id, json, byRecord));
    },
  };
};

/** Whoever writes to the registry may have written anything: what cannot be resolved to one of ours is the record's fault. */
const readerOf = (id: number, json: string, byRecord: ReadonlyMap<string | undefined, EventSchema>): Reader => {
  try {
    const writer = avroType(json);
    const schema = byRecord.get(writer.name);
    if (schema === undefined) throw new Error(`it is ${writer.name}, which is none of ours`);
    return { schema, writer, resolver: schema.avro.createResolver(writer) };
  } catch (error) {
    throw new Undecodable('unknown_record', `schema ${id} cannot be read as one of ours: ${(error as Error).message}`);
  }
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

/** A codec without a registry, for the in-memory log and for tests: ids are ordinals. */
export const memoryCodec = (): Codec => {
  const all = topicNames.flatMap((topic) => [...schemasOf(topic).values()]);
  return createCodec(new Map(all.map((schema, ordinal) => [schema, ordinal + 1])), async () => undefined);
};
