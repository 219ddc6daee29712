import avsc from 'avsc';
import { expect, test } from 'vitest';
import type { Codec } from '../codec.ts';
import { UnknownSchemaId } from '../errors.ts';
import { catalogue, Topic, type TopicName } from '../generated/catalogue.ts';
import { schemaOf, topicNames } from '../schemas.ts';
import { example } from './examples.ts';

/** Schemas that several codecs share. `add` stores a schema of another program, and returns its id. */
export type SharedSchemas = {
  /** a codec of another process, which writes these topics */
  readonly connect: (topics: readonly TopicName[]) => Promise<Codec>;
  readonly add: (subject: string, json: string) => Promise<number>;
};

const TOPIC = Topic.agentIntervention;
const nudge = schemaOf(TOPIC, 'NUDGE_SENT');

/** Reads a value as the runners do: an unknown id is learned, and the value read again. */
const read = async (codec: Codec, topic: TopicName, value: Buffer) => {
  try {
    return codec.decode(topic, value);
  } catch (error) {
    if (!(error instanceof UnknownSchemaId)) throw error;
    await codec.learn(error);
    return codec.decode(topic, value);
  }
};

const framed = (id: number, body: Buffer): Buffer => {
  const header = Buffer.alloc(5);
  header.writeInt32BE(id, 1);
  return Buffer.concat([header, body]);
};

type RecordSchema = {
  readonly name: string;
  readonly fields: { name: string; type: unknown; default?: unknown }[];
};

/** The schema of the nudge with other fields, and the bytes of a value of it. */
const changed = (change: (fields: RecordSchema['fields']) => void, value: object) => {
  const schema = JSON.parse(nudge.json) as RecordSchema;
  change(schema.fields);
  const json = JSON.stringify(schema);
  return { json, body: avsc.Type.forSchema(schema as never, { wrapUnions: false }).toBuffer(value) };
};

/** Each codec that shares schemas with others fulfils it. */
export const codecContract = (open: () => Promise<SharedSchemas>): void => {
  test('what one codec writes is read by another, for every event', async () => {
    const { connect } = await open();
    const [writing, reading] = [await connect(topicNames), await connect([])];
    for (const topic of topicNames)
      for (const { type } of catalogue[topic].events) {
        const event = example(topic, type as never) as never as Parameters<Codec['encode']>[0];
        const decoded = await read(reading, topic, writing.encode(event));
        expect(decoded.type).toBe(type);
        expect(decoded.payload).toEqual(event.payload);
      }
  });

  test('a schema keeps its id, and two schemas never have the same', async () => {
    const { connect, add } = await open();
    const event = example(TOPIC, 'NUDGE_SENT');
    const first = (await connect([TOPIC])).encode(event).readInt32BE(1);
    const other = await add('other-value', JSON.stringify({ type: 'record', name: 'Other', fields: [] }));
    expect((await connect([TOPIC])).encode(event).readInt32BE(1)).toBe(first);
    expect(other).not.toBe(first);
  });

  test('a field that only a newer writer has is left out', async () => {
    const { connect, add } = await open();
    const event = example(TOPIC, 'NUDGE_SENT');
    const newer = changed((fields) => fields.push({ name: 'colour', type: ['null', 'string'], default: null }), {
      ...event,
      colour: 'red',
    });
    const value = framed(await add(nudge.subject, newer.json), newer.body);
    expect((await read(await connect([TOPIC]), TOPIC, value)).payload).toEqual(event.payload);
  });

  test('a field that an older writer did not have is read as its default', async () => {
    const { connect, add } = await open();
    const event = example(TOPIC, 'NUDGE_SENT');
    const { fields } = JSON.parse(nudge.json) as RecordSchema;
    const optional = fields.findIndex((field) => field.default !== undefined);
    expect(optional, 'the envelope has a field with a default').toBeGreaterThanOrEqual(0);
    const name = fields[optional]?.name ?? '';
    const older = changed((all) => all.splice(optional, 1), event);
    const value = framed(await add(nudge.subject, older.json), older.body);
    const { envelope } = await read(await connect([]), TOPIC, value);
    expect(envelope).toMatchObject({ eventId: event.eventId, [name]: fields[optional]?.default });
  });

  test('an event that only a newer version has is skipped, and on another topic it is misplaced', async () => {
    const { connect, add } = await open();
    const namespace = TOPIC.replaceAll('-', '_');
    const json = JSON.stringify({ type: 'record', name: 'NudgeForgotten', namespace, fields: [] });
    const value = framed(await add('forgotten-value', json), Buffer.alloc(0));
    const codec = await connect([TOPIC]);
    await expect(read(codec, TOPIC, value)).rejects.toMatchObject({ name: 'NewerEvent' });
    await expect(read(codec, Topic.agentHealth, value)).rejects.toMatchObject({ reason: 'wrong_topic' });
  });

  test('a schema of another project and an id without a schema are the fault of the record', async () => {
    const { connect, add } = await open();
    const id = await add('foreign-value', JSON.stringify({ type: 'record', name: 'Foreign', fields: [] }));
    const codec = await connect([]);
    await expect(read(codec, TOPIC, framed(id, Buffer.alloc(0)))).rejects.toMatchObject({ reason: 'unknown_record' });
    await expect(read(codec, TOPIC, framed(99_999, Buffer.alloc(0)))).rejects.toMatchObject({
      reason: 'unknown_schema_id',
    });
  });
};
