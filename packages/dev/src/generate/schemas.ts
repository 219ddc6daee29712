import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { EventInfo, TopicInfo } from '@vigil/events';

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

export type EventSchema = EventInfo & { readonly fields: readonly AvroField[] };
export type TopicFolder = Omit<TopicInfo, 'events'> & { readonly events: readonly EventSchema[] };

/** The content of a schema's file. `vigil`: the facts of its topic, the same in every file of a folder. */
type SchemaFile = {
  readonly name: string;
  readonly namespace: string;
  readonly doc?: string;
  readonly vigil?: Omit<TopicInfo, 'name' | 'kind' | 'events'>;
  readonly fields: readonly AvroField[];
};

/** NudgeSent → NUDGE_SENT */
const typeOf = (record: string): string => record.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toUpperCase();

/** The only writer of each topic that shares a schema, from the namespace of its file. */
const WRITER = '{writer}';

const readFile = (root: string, file: string) => {
  const schema: SchemaFile = JSON.parse(readFileSync(path.join(root, file), 'utf8'));
  const { name, vigil } = schema;
  if (vigil === undefined) throw new Error(`${file}: the attribute "vigil" (key, writers, retention) is missing`);
  if (`${name}.avsc` !== path.basename(file)) throw new Error(`${file}: holds the record ${name}`);
  return { ...schema, vigil, file };
};

const topicOf = (files: readonly ReturnType<typeof readFile>[], name: string, writer: string | null): TopicFolder => {
  const [first] = files;
  if (first === undefined) throw new Error(`${name}: no event in its folder`);
  const { key, writers, retention, partitions, carriesTime, envelope } = first.vigil;
  const facts = { key, writers: writer === null ? writers : [writer], retention, partitions, carriesTime, envelope };
  const namespace = name.replaceAll('-', '_');
  const events = files.map(({ name: record, doc = '', file, fields, vigil, ...schema }): EventSchema => {
    if (JSON.stringify(vigil) !== JSON.stringify(first.vigil))
      throw new Error(`${file}: its attribute "vigil" differs from ${first.file}`);
    const own = writer === null ? schema.namespace : schema.namespace.replace(WRITER, writer.replaceAll('-', '_'));
    if (own !== namespace) throw new Error(`${file}: namespace is ${own}, expected ${namespace}`);
    return { record, type: typeOf(record), subject: `${name}-${namespace}.${record}`, file, doc, fields };
  });
  return { name, kind: name.split('.')[1] ?? '', ...facts, events };
};

/**
 * Reads schemas/: a folder is a topic, a file is an event. A folder without a producer, such as dlq/dead-letter.v1, is
 * one topic for each writer. Throws if a file contradicts its folder.
 */
export const readSchemas = (root: string): readonly TopicFolder[] =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((entry) => /^[^/]+\/(?:[^/]+\/)?[^/]+\.v\d+$/.test(entry))
    .flatMap((folder) => {
      const files = readdirSync(path.join(root, folder)).sort();
      const read = files.map((file) => readFile(root, `${folder}/${file}`));
      const [kind, ...rest] = folder.split('/');
      if (rest.length > 1) return [topicOf(read, `onex.${kind}.${rest.join('.')}`, null)];
      return (read[0]?.vigil.writers ?? []).map((writer) => topicOf(read, `onex.${kind}.${writer}.${rest}`, writer));
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1));
