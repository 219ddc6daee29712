import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** One Avro type as written in a file of schemas/. */
export type AvroType =
  | string
  | readonly AvroType[]
  | { readonly type: 'record'; readonly name: string; readonly doc?: string; readonly fields: readonly AvroField[] }
  | { readonly type: 'enum'; readonly name: string; readonly symbols: readonly string[] }
  | { readonly type: 'array'; readonly items: AvroType }
  | { readonly type: 'map'; readonly values: AvroType }
  | { readonly type: 'long'; readonly logicalType: string };
export type AvroField = { readonly name: string; readonly type: AvroType; readonly doc?: string };

/** The attribute `vigil` of a schema: the facts of its topic. It is the same in every file of a folder. */
export type TopicAttributes = {
  readonly key: string;
  readonly writers: readonly string[];
  readonly retention: string;
  readonly partitions: 'one' | 'many';
  readonly carriesTime: boolean;
  readonly envelope: boolean;
};
export type EventSchema = {
  readonly record: string;
  readonly type: string;
  readonly doc: string;
  readonly file: string;
  readonly subject: string;
  readonly fields: readonly AvroField[];
};
export type TopicFolder = { readonly name: string } & TopicAttributes & { readonly events: readonly EventSchema[] };

/** NudgeSent → NUDGE_SENT */
export const typeOf = (record: string): string => record.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toUpperCase();

const readEvent = (root: string, topic: string, file: string) => {
  const text = readFileSync(path.join(root, file), 'utf8');
  const schema = JSON.parse(text) as {
    name: string;
    namespace: string;
    doc?: string;
    vigil?: TopicAttributes;
    fields: AvroField[];
  };
  if (schema.vigil === undefined)
    throw new Error(`${file}: the attribute "vigil" (key, writers, retention) is missing`);
  const namespace = topic.replaceAll('-', '_').split('.').join('.');
  if (schema.namespace !== namespace)
    throw new Error(`${file}: namespace is ${schema.namespace}, expected ${namespace}`);
  if (`${schema.name}.avsc` !== path.basename(file)) throw new Error(`${file}: holds the record ${schema.name}`);
  const subject = `${topic}-${namespace}.${schema.name}`;
  const event: EventSchema = {
    record: schema.name,
    type: typeOf(schema.name),
    doc: schema.doc ?? '',
    file,
    subject,
    fields: schema.fields,
  };
  return { attributes: schema.vigil, event };
};

/** Reads schemas/: a folder is a topic, a file is an event. Throws where a file contradicts its folder. */
export const readSchemas = (root: string): TopicFolder[] =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((entry) => /^[^/]+\/[^/]+\/[^/]+\.v\d+$/.test(entry))
    .sort()
    .map((folder) => {
      const topic = `onex.${folder.split('/').join('.')}`;
      const files = readdirSync(path.join(root, folder)).sort();
      const read = files.map((file) => readEvent(root, topic, `${folder}/${file}`));
      const first = read[0];
      if (first === undefined) throw new Error(`${folder}: no event in it`);
      for (const { attributes, event } of read)
        if (JSON.stringify(attributes) !== JSON.stringify(first.attributes))
          throw new Error(`${event.file}: its attribute "vigil" differs from ${first.event.file}`);
      return { name: topic, ...first.attributes, events: read.map(({ event }) => event) };
    });
