import { setTimeout as sleep } from 'node:timers/promises';
import { COMPATIBILITY, SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry';
import type { SchemaRegistryAPIClientArgs } from '@kafkajs/confluent-schema-registry/dist/api/index.js';
import type { Type } from 'avsc';
import { type Codec, createCodec } from './codec.ts';
import { CorrectRegistryVariables, RegistryTrouble } from './errors.ts';
import type { TopicName } from './generated/catalogue.ts';
import type { RegistryAccess } from './registry-access.ts';
import { type EventSchema, schemasOf, topicNames } from './schemas.ts';

type Middleware = NonNullable<SchemaRegistryAPIClientArgs['middlewares']>[number];

/** The client supports only Basic, and reads it once. So Vigil sets the header itself. */
const authorize =
  (authorization: () => string | null): Middleware =>
  () => ({
    prepareRequest: async (next) => {
      const request = await next();
      const header = authorization();
      return header === null ? request : request.enhance({ headers: { authorization: header } });
    },
  });

const clientOf = ({ url, authorization }: RegistryAccess): SchemaRegistry =>
  new SchemaRegistry({
    host: url.replace(/\/+$/, ''),
    retry: { retries: 3, initialRetryTimeInSecs: 0.1 },
    middlewares: [authorize(authorization)],
  });

const statusOf = (error: unknown): number | undefined => (error as { status?: number }).status;

/**
 * Whether the registry does not have the schema. Every other failure has a status, also a missing answer (400). Without
 * a status, the client could not read the schema.
 */
const isTrouble = (error: unknown): boolean => {
  const status = statusOf(error);
  return status !== undefined && status !== 404;
};

/**
 * The time after which a registry without an answer counts as unreachable, milliseconds. The reader of a record waits
 * for it.
 */
const ANSWER_MS = 5000;

const inTime = async <T>(answer: Promise<T>, what: string): Promise<T> => {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new RegistryTrouble(`${what}: no answer within ${ANSWER_MS} ms`)), ANSWER_MS);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
};

/** Runs at most `width` at a time. */
const each = async <T>(items: readonly T[], width: number, work: (item: T) => Promise<void>): Promise<void> => {
  const queue = items.values();
  const lane = async () => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: width }, lane));
};

type Refused = { readonly schema: EventSchema; readonly why: string };

const allSchemas = (topics: readonly TopicName[]): EventSchema[] =>
  topics.flatMap((topic) => [...schemasOf(topic).values()]);

/** How often a refused schema is registered again, and how long each time waits, milliseconds. */
const RETRIES = 5;
const RETRY_MS = 300;

/**
 * Registers every schema at level FULL_TRANSITIVE; a registered one stays. Nothing else registers schemas. Throws
 * RegistryTrouble, which names every schema that the registry refuses, or an unreachable registry.
 *
 * A subject and its level are two requests. Another process that registers at the same time may be between them, and
 * the registry refuses the schema then. So what is refused is registered again.
 */
export const registerSchemas = async (
  registry: RegistryAccess,
  onProgress: (done: number, of: number) => void = () => {},
): Promise<void> => {
  const { url } = registry;
  const client = clientOf(registry);
  const schemas = allSchemas(topicNames);
  let done = 0;
  const register = async (some: readonly EventSchema[]): Promise<readonly Refused[]> => {
    const again: Refused[] = [];
    await each(some, 4, async (schema) => {
      const { subject, json } = schema;
      try {
        await client.register(
          { type: SchemaType.AVRO, schema: json },
          { subject, compatibility: COMPATIBILITY.FULL_TRANSITIVE },
        );
        done += 1;
        onProgress(done, schemas.length);
      } catch (error) {
        again.push({ schema, why: `${subject}: ${(error as Error).message}` });
      }
    });
    return again;
  };
  let refused = await register(schemas);
  for (let retry = 1; retry <= RETRIES && refused.length > 0; retry += 1) {
    await sleep(RETRY_MS);
    refused = await register(refused.map(({ schema }) => schema));
  }
  if (refused.length > 0)
    throw new RegistryTrouble(
      `the registry at ${url} refuses ${refused.length} schemas:\n${refused.map(({ why }) => why).join('\n')}`,
    );
};

/** Registers one schema, also an earlier one, at level FULL_TRANSITIVE. Returns its id. Throws RegistryTrouble. */
export const registerSchema = async (registry: RegistryAccess, subject: string, json: string): Promise<number> => {
  try {
    const { id } = await clientOf(registry).register(
      { type: SchemaType.AVRO, schema: json },
      { subject, compatibility: COMPATIBILITY.FULL_TRANSITIVE },
    );
    return id;
  } catch (error) {
    throw new RegistryTrouble(`the registry at ${registry.url} refuses ${subject}: ${(error as Error).message}`);
  }
};

/**
 * Opens a codec with the registry's ids of Vigil's schemas.
 * `topics`: those whose events are written; the schema of an event that is read is fetched when it first occurs. Throws
 * RegistryTrouble if the registry is unreachable or a schema is not registered, CorrectRegistryVariables if it refuses
 * the credentials.
 */
export const connectCodec = async (registry: RegistryAccess, topics: readonly TopicName[]): Promise<Codec> => {
  const { url } = registry;
  const client = clientOf(registry);
  const ids = new Map<EventSchema, number>();
  await each(allSchemas(topics), 8, async (schema) => {
    try {
      ids.set(
        schema,
        await client.getRegistryIdBySchema(schema.subject, { type: SchemaType.AVRO, schema: schema.json }),
      );
    } catch (error) {
      const message = (error as Error).message;
      if (statusOf(error) === 401 || statusOf(error) === 403)
        throw new CorrectRegistryVariables(
          `the registry at ${url} refuses the credentials (${message}): correct SCHEMA_REGISTRY_AUTH and its variables`,
        );
      throw new RegistryTrouble(
        isTrouble(error)
          ? `the registry at ${url} does not answer for ${schema.subject}: ${message}`
          : `${schema.subject} is not registered at ${url} (${message}): run "vigil schemas register"`,
      );
    }
  });
  const source = async (id: number) => {
    try {
      const schema = await inTime(client.getSchema(id), `schema ${id} at ${url}`);
      return JSON.stringify((schema as Type).schema());
    } catch (error) {
      if (error instanceof RegistryTrouble) throw error;
      if (!isTrouble(error)) return undefined;
      throw new RegistryTrouble(`the registry at ${url} does not answer for schema ${id}: ${(error as Error).message}`);
    }
  };
  return createCodec(ids, source, () => performance.now());
};
