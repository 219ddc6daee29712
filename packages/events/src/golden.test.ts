import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createCodec } from './codec.ts';
import { UnknownSchemaId } from './errors.ts';
import type { TopicName } from './generated/catalogue.ts';
import { example } from './testing/examples.ts';

type Golden = { readonly topic: TopicName; readonly type: string; readonly schema: unknown; readonly avro: string };

const folder = path.resolve(import.meta.dirname, '../golden');
const goldens = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.json'))
  .map((file): [string, Golden] => [file, JSON.parse(readFileSync(path.join(folder, file), 'utf8'))]);

const frame = (id: number, avro: string): Buffer => {
  const header = Buffer.alloc(5);
  header.writeInt32BE(id, 1);
  return Buffer.concat([header, Buffer.from(avro, 'base64')]);
};

test.each(goldens)('every event written before still decodes: %s', async (_, { topic, type, schema, avro }) => {
  const codec = createCodec(
    new Map(),
    async () => JSON.stringify(schema),
    () => 0,
  );
  await codec.learn(new UnknownSchemaId(7));
  const decoded = codec.decode(topic, frame(7, avro));
  expect(decoded.type).toBe(type);
  const today = example(topic, type as never) as { payload: object };
  for (const field of Object.keys(today.payload)) expect(decoded.payload).toHaveProperty([field]);
});
