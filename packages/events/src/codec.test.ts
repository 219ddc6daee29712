import avsc from 'avsc';
import { expect, test } from 'vitest';
import { createCodec, memoryCodec } from './codec.ts';
import { Undecodable, UnknownSchemaId } from './errors.ts';
import { catalogue, Topic } from './generated/catalogue.ts';
import { schemaOf, topicNames } from './schemas.ts';
import { example } from './testing/examples.ts';

const codec = memoryCodec();
const all = topicNames.flatMap((topic) => catalogue[topic].events.map(({ type }) => [topic, type] as const));

test.each(all)('an event is the same after encoding and decoding: %s %s', (topic, type) => {
  const event = example(topic, type as never) as never as Parameters<typeof codec.encode>[0] & { eventId: string };
  const decoded = codec.decode(topic, codec.encode(event));
  expect(decoded.type).toBe(type);
  expect(decoded.payload).toEqual(event.payload);
  expect(decoded.envelope?.eventId ?? event.eventId).toBe(event.eventId);
});

const nudge = codec.encode(example(Topic.agentIntervention, 'NUDGE_SENT'));

test('bytes without the registry frame are not Avro', () => {
  expect(() => codec.decode(Topic.agentIntervention, Buffer.from('{"a":1}'))).toThrow(
    expect.objectContaining({ reason: 'not_avro' }),
  );
  expect(() => codec.decode(Topic.agentIntervention, Buffer.alloc(0))).toThrow(Undecodable);
});

test('bytes that are too few or too many are not Avro', () => {
  expect(() => codec.decode(Topic.agentIntervention, nudge.subarray(0, -3))).toThrow(
    expect.objectContaining({ reason: 'not_avro' }),
  );
  expect(() => codec.decode(Topic.agentIntervention, Buffer.concat([nudge, Buffer.from([1])]))).toThrow(
    expect.objectContaining({ reason: 'not_avro' }),
  );
});

test('an event on another topic than its own is refused', () => {
  expect(() => codec.decode(Topic.agentHealth, nudge)).toThrow(expect.objectContaining({ reason: 'wrong_topic' }));
});

test('an unknown schema id is looked up, and one that the registry does not have makes a dead letter', async () => {
  const strange = Buffer.from(nudge);
  strange.writeInt32BE(99_999, 1);
  const thrown = (() => {
    try {
      return codec.decode(Topic.agentIntervention, strange);
    } catch (error) {
      return error;
    }
  })();
  expect(thrown).toBeInstanceOf(UnknownSchemaId);
  await expect(codec.learn(thrown as UnknownSchemaId)).rejects.toMatchObject({ reason: 'unknown_schema_id' });
});

test('a value larger than the scratch buffer is encoded whole', () => {
  const message = 'x'.repeat(300_000);
  const decoded = codec.decode(
    Topic.agentIntervention,
    codec.encode(example(Topic.agentIntervention, 'NUDGE_SENT', { message })),
  );
  expect(decoded.payload).toMatchObject({ message });
});

test.each([0, -1, -(2 ** 31)])('%i is not a schema id, and the registry is not queried for it', (id) => {
  const strange = Buffer.from(nudge);
  strange.writeInt32BE(id, 1);
  expect(() => codec.decode(Topic.agentIntervention, strange)).toThrow(
    expect.objectContaining({ name: 'Undecodable', reason: 'unknown_schema_id' }),
  );
});

test('a plan of a newer evaluator is read: an unsupported step keeps its name', async () => {
  const schema = JSON.parse(schemaOf(Topic.agentHealth, 'WARRANT_FILED').json);
  const payload = schema.fields.find(({ name }: { name: string }) => name === 'payload').type;
  const step = payload.fields.find(({ name }: { name: string }) => name === 'plan').type.items;
  const settings = { type: 'record', name: 'RebootStep', fields: [{ name: 'force', type: 'boolean' }] };
  step.fields.push({ name: 'reboot', type: ['null', settings], default: null });
  const nudge = { attempts: 1, intervalMs: 1000, message: 'go on' };
  const warrant = example(Topic.agentHealth, 'WARRANT_FILED');
  const steps = [
    { step: 'reboot', reboot: { force: true } },
    { step: 'nudge', nudge },
  ];
  const newer = avsc.Type.forSchema(schema).toBuffer({
    ...warrant,
    payload: { ...warrant.payload, plan: steps.map((one) => ({ ...warrant.payload.plan[0], reboot: null, ...one })) },
  });
  const header = Buffer.alloc(5);
  header.writeInt32BE(7, 1);
  const reading = createCodec(
    new Map(),
    async () => JSON.stringify(schema),
    () => 0,
  );
  await reading.learn(new UnknownSchemaId(7));
  const read = reading.decode(Topic.agentHealth, Buffer.concat([header, newer])).payload as typeof warrant.payload;
  expect(read.plan.map(({ step, nudge }) => ({ step, nudge }))).toEqual([
    { step: 'reboot', nudge: null },
    { step: 'nudge', nudge },
  ]);
  expect(read.plan[0]).not.toHaveProperty('reboot');
});

const { json } = schemaOf(Topic.agentIntervention, 'NUDGE_SENT');
const { name, namespace } = JSON.parse(json) as { name: string; namespace: string };

test.each([
  ['of another project', { type: 'record', name: 'Other', fields: [] }],
  ['without a name', 'string'],
  ['that is invalid', { type: 'nonsense' }],
  ['of our name that does not fit ours', { type: 'record', name, namespace, fields: [] }],
])('a schema in the registry %s makes a dead letter, not trouble with the registry', async (_what, schema) => {
  const shared = createCodec(
    new Map(),
    async () => JSON.stringify(schema),
    () => 0,
  );
  await expect(shared.learn(new UnknownSchemaId(7))).rejects.toMatchObject({
    name: 'Undecodable',
    reason: 'unknown_record',
  });
});

test('a list that names more items than there are bytes is not Avro, and is refused at once', () => {
  const codec = memoryCodec();
  const whole = codec.encode(example(Topic.heartbeat, 'HEARTBEAT', { blockers: ['one', 'two', 'three'] }));
  const at = whole.indexOf('one') - 2;
  // As a zigzag number: 2^30 items.
  const broken = Buffer.concat([
    whole.subarray(0, at),
    Buffer.from([0x80, 0x80, 0x80, 0x80, 0x08]),
    whole.subarray(at + 1),
  ]);
  const began = performance.now();
  expect(() => codec.decode(Topic.heartbeat, broken)).toThrow(/items do not fit/);
  expect(performance.now() - began).toBeLessThan(1000);
});

/** Whether reading a value may go deeper than the schema is written. */
const containsItself = (type: avsc.Type, outer: readonly avsc.Type[] = []): boolean => {
  const { RecordType, ArrayType, MapType, UnwrappedUnionType } = avsc.types;
  if (outer.includes(type)) return true;
  const parts: readonly avsc.Type[] = (() => {
    if (type instanceof RecordType) return type.fields.map((field) => field.type);
    if (type instanceof ArrayType) return [type.itemsType];
    if (type instanceof MapType) return [type.valuesType];
    return type instanceof UnwrappedUnionType ? type.types : [];
  })();
  return parts.some((part) => containsItself(part, [...outer, type]));
};

test('no schema contains itself, so a record is not nested deeper than its schema', () => {
  for (const [topic, type] of all) expect(containsItself(schemaOf(topic, type).avro), type).toBe(false);
  const list = { type: 'record', name: 'List', fields: [{ name: 'rest', type: ['null', 'List'] }] } as const;
  expect(containsItself(avsc.Type.forSchema(list as never, { wrapUnions: false }))).toBe(true);
});
