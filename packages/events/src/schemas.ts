import { readFileSync } from 'node:fs';
import path from 'node:path';
import avro, { type Schema, type Type } from 'avsc';
import { boundBlocks } from './bounded-blocks.ts';
import { catalogue, type TopicName } from './generated/catalogue.ts';
import type { EventInfo } from './topic.ts';

boundBlocks();

/** The folder of the contract: schemas/ of the workspace. */
const folder: string = path.resolve(import.meta.dirname, '../../../schemas');

/** One event's schema, as in its file, and its Avro type. */
export type EventSchema = EventInfo & {
  readonly topic: TopicName;
  readonly envelope: boolean;
  readonly json: string;
  readonly avro: Type;
};

/** The Avro type of a schema: nullable fields are plain values (`1.5`, not `{ double: 1.5 }`). */
export const avroType = (json: string): Type => avro.Type.forSchema(JSON.parse(json) as Schema, { wrapUnions: false });

/** The schema for the registry. In a file that several topics share, namespace and writers are set for each topic. */
const load = (topic: TopicName, event: EventInfo): EventSchema => {
  const { writers, envelope } = catalogue[topic];
  const schema = JSON.parse(readFileSync(path.join(folder, event.file), 'utf8')) as { readonly vigil: object };
  const namespace = topic.replaceAll('-', '_');
  const json = JSON.stringify({ ...schema, namespace, vigil: { ...schema.vigil, writers } });
  return { ...event, topic, envelope, json, avro: avroType(json) };
};

const loaded = new Map<TopicName, ReadonlyMap<string, EventSchema>>();

/** The events of a topic by type; read from schemas/ once. */
export const schemasOf = (topic: TopicName): ReadonlyMap<string, EventSchema> => {
  const known = loaded.get(topic);
  if (known !== undefined) return known;
  const events = new Map(catalogue[topic].events.map((event) => [event.type, load(topic, event)]));
  loaded.set(topic, events);
  return events;
};

/** One event's schema. Throws if the topic has no such event. */
export const schemaOf = (topic: TopicName, type: string): EventSchema => {
  const schema = schemasOf(topic).get(type);
  if (schema === undefined)
    throw new Error(`${topic} has no event ${type}: its events are ${[...schemasOf(topic).keys()].join(', ')}`);
  return schema;
};

export const topicNames: readonly TopicName[] = Object.keys(catalogue) as TopicName[];
