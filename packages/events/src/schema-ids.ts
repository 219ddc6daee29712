import type { Resolver, Type } from 'avsc';
import { NewerEvent, Undecodable, UnknownSchemaId } from './errors.ts';
import type { TopicName } from './generated/catalogue.ts';
import { avroType, type EventSchema, schemasOf, topicNames } from './schemas.ts';

/** Finds a schema by its id; undefined if the registry has no Avro schema with that id. */
export type SchemaSource = (id: number) => Promise<string | undefined>;

/** How the values of one schema id are read. `resolver` is undefined if Vigil's own schema wrote them. */
export type Reader = { readonly schema: EventSchema; readonly writer: Type; readonly resolver: Resolver | undefined };

/** An id without an event. `until`: when the registry is queried again, on the clock of `now`. */
type Refused = { readonly error: (topic: TopicName) => Undecodable; readonly until: number };

/** The time after which an absent id is looked up again, milliseconds. */
const ABSENT_MS = 60_000;
/** The number of absent ids that are stored, because any writer can send any number of ids. */
const MOST_ABSENT = 10_000;

const FOR_GOOD = Number.POSITIVE_INFINITY;

const recordsOf = (topic: TopicName): readonly EventSchema[] => [...schemasOf(topic).values()];

const namespaceOf = (record: string | undefined): string => record?.slice(0, record.lastIndexOf('.')) ?? '';

/**
 * The meaning of each schema id. The registry is queried once for a schema that it has, because schemas never change,
 * and at most once a minute for an absent one.
 */
export class SchemaIds {
  readonly #readers: Map<number, Reader>;
  readonly #refused = new Map<number, Refused>();
  readonly #absent = new Set<number>();
  readonly #asking = new Map<number, Promise<void>>();
  readonly #source: SchemaSource;
  readonly #now: () => number;
  readonly #byRecord = new Map(topicNames.flatMap(recordsOf).map((schema) => [schema.avro.name, schema]));
  readonly #topicOf = new Map(topicNames.map((topic) => [namespaceOf(recordsOf(topic)[0]?.avro.name), topic]));

  /** `now`: of a monotone clock, milliseconds. */
  constructor(ids: ReadonlyMap<EventSchema, number>, source: SchemaSource, now: () => number) {
    this.#readers = new Map([...ids].map(([schema, id]) => [id, { schema, writer: schema.avro, resolver: undefined }]));
    this.#source = source;
    this.#now = now;
  }

  /** Throws Undecodable, NewerEvent, or UnknownSchemaId if the registry must be queried. */
  readerOf(topic: TopicName, id: number): Reader {
    const reader = this.#readers.get(id);
    if (reader === undefined) throw this.#refusalOf(topic, id) ?? new UnknownSchemaId(id);
    const { schema } = reader;
    if (schema.topic !== topic) throw misplaced(schema.record, id, schema.topic, topic);
    return reader;
  }

  /**
   * Queries the registry, once for all waiting callers. Throws Undecodable if the schema is not an event of Vigil, or
   * the error of the source.
   */
  learn(id: number): Promise<void> {
    const asking = this.#asking.get(id) ?? this.#fetch(id).finally(() => this.#asking.delete(id));
    this.#asking.set(id, asking);
    return asking;
  }

  #refusalOf(topic: TopicName, id: number): Undecodable | undefined {
    const refused = this.#refused.get(id);
    return refused !== undefined && this.#now() < refused.until ? refused.error(topic) : undefined;
  }

  async #fetch(id: number): Promise<void> {
    const json = await this.#source(id);
    if (json === undefined) throw this.#refuseAbsent(id);
    try {
      const writer = avroType(json);
      const schema = this.#byRecord.get(writer.name);
      if (schema !== undefined) this.#readers.set(id, { schema, writer, resolver: schema.avro.createResolver(writer) });
      else this.#refuseUnknown(id, writer);
    } catch (error) {
      // Any client may register any schema, so this is a fault of the record.
      const why = `schema ${id} cannot be read as one of ours: ${(error as Error).message}`;
      const unknown = () => new Undecodable('unknown_record', why);
      this.#refuse(id, unknown);
      throw unknown();
    }
  }

  /** A record's namespace belongs to its topic, so an unknown record in it was added by a newer version. */
  #refuseUnknown(id: number, { name }: Type): void {
    const owner = this.#topicOf.get(namespaceOf(name));
    if (name === undefined || owner === undefined) throw new Error(`it is ${name}, which is not one of ours`);
    const newer = () => new NewerEvent(`${name} (schema ${id}) is an event of a newer version of ${owner}`);
    this.#refuse(id, (topic) => (topic === owner ? newer() : misplaced(name, id, owner, topic)));
  }

  #refuseAbsent(id: number): Undecodable {
    const error = () => new Undecodable('unknown_schema_id', `the registry has no Avro schema ${id}`);
    this.#absent.delete(id);
    this.#absent.add(id);
    const [oldest] = this.#absent;
    if (this.#absent.size > MOST_ABSENT && oldest !== undefined) this.#forget(oldest);
    this.#refused.set(id, { error, until: this.#now() + ABSENT_MS });
    return error();
  }

  #refuse(id: number, error: Refused['error']): void {
    this.#forget(id);
    this.#refused.set(id, { error, until: FOR_GOOD });
  }

  #forget(absent: number): void {
    this.#absent.delete(absent);
    this.#refused.delete(absent);
  }
}

const misplaced = (record: string, id: number, owner: TopicName, topic: TopicName): Undecodable =>
  new Undecodable('wrong_topic', `${record} (schema ${id}) belongs to ${owner}, not to ${topic}`);
