import { type Codec, createCodec } from './codec.ts';
import { KeepSchemasCompatible } from './errors.ts';
import type { TopicName } from './generated/catalogue.ts';
import { avroType, type EventSchema, schemasOf } from './schemas.ts';

/** A schema that is to be stored. `permit` throws if it does not fit the earlier schemas of its subject. */
export type NewSchema = {
  readonly subject: string;
  readonly json: string;
  readonly permit: (earlier: readonly string[]) => void;
};

/** Schemas and their ids, stored beside the records that use them. */
export type SchemaTable = {
  /** The ids of these schemas, in their order: stored ones keep theirs. All are stored, or none. */
  readonly register: (schemas: readonly NewSchema[]) => readonly number[];
  readonly find: (id: number) => string | undefined;
};

/** The registry's level FULL_TRANSITIVE: each schema of a subject reads what any other one wrote. */
const requireCompatible =
  ({ subject, avro }: EventSchema): NewSchema['permit'] =>
  (earlier) => {
    for (const json of earlier) {
      const before = avroType(json);
      try {
        avro.createResolver(before);
        before.createResolver(avro);
      } catch (error) {
        throw new KeepSchemasCompatible(
          `the schema of ${subject} cannot replace an earlier one that the log has (${(error as Error).message}): add fields with defaults only, or use another log`,
        );
      }
    }
  };

/**
 * A codec whose ids are in a table. It registers the schemas of `topics`, which this process writes. It finds the
 * schema of an event that it reads when that first occurs. Throws KeepSchemasCompatible.
 */
export const tableCodec = (table: SchemaTable, topics: readonly TopicName[]): Codec => {
  const schemas = topics.flatMap((topic) => [...schemasOf(topic).values()]);
  const ids = table.register(
    schemas.map((schema) => ({ subject: schema.subject, json: schema.json, permit: requireCompatible(schema) })),
  );
  return createCodec(
    new Map(schemas.map((schema, index) => [schema, ids[index] as number])),
    async (id) => table.find(id),
    () => performance.now(),
  );
};
