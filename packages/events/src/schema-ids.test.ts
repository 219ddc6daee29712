import { expect, test } from 'vitest';
import { createCodec } from './codec.ts';
import { type NewerEvent, RegistryTrouble, UnknownSchemaId } from './errors.ts';
import { Topic } from './generated/catalogue.ts';
import { schemaOf } from './schemas.ts';
import { example } from './testing/examples.ts';

const MINUTE = 60_000;
const { json: nudge } = schemaOf(Topic.agentIntervention, 'NUDGE_SENT');
const { namespace } = JSON.parse(nudge) as { namespace: string };
const recordNamed = (name: string, inNamespace = namespace) =>
  JSON.stringify({ type: 'record', name, namespace: inNamespace, fields: [] });
const framed = (id: number) => {
  const value = Buffer.alloc(6);
  value.writeInt32BE(id, 1);
  return value;
};

/** A registry with these schemas, and a clock that the test moves. Counts the requests for each id. */
const registryWith = (schemas: Readonly<Record<number, string>>) => {
  const registry = { schemas, now: 0, requests: {} as Record<number, number>, isAway: false };
  const source = async (id: number) => {
    registry.requests[id] = (registry.requests[id] ?? 0) + 1;
    if (registry.isAway) throw new RegistryTrouble('away');
    return registry.schemas[id];
  };
  const codec = createCodec(new Map(), source, () => registry.now);
  /** Reads a record as the runners do, and returns the name of the outcome. */
  const read = async (id: number, topic = Topic.agentIntervention as never) => {
    for (;;) {
      try {
        return codec.decode(topic, framed(id)).type;
      } catch (error) {
        if (!(error instanceof UnknownSchemaId)) return (error as NewerEvent).reason;
      }
      try {
        await codec.learn(new UnknownSchemaId(id));
      } catch (error) {
        return (error as NewerEvent).reason ?? (error as Error).name;
      }
    }
  };
  return { registry, codec, read };
};

test('an unknown event of the topic’s namespace is an event of a newer version', async () => {
  const { read, registry } = registryWith({ 7: recordNamed('NudgeForgotten') });
  expect([await read(7), await read(7)]).toEqual(['newer_event', 'newer_event']);
  expect(registry.requests).toEqual({ 7: 1 });
});

test('a schema does not fit on another topic, or with a foreign namespace', async () => {
  const { read, registry } = registryWith({
    7: recordNamed('NudgeForgotten'),
    8: recordNamed('NudgeForgotten', 'com.example'),
    9: recordNamed('NudgeForgotten', `${namespace}.inner`),
  });
  expect(await read(7, Topic.agentHealth as never)).toBe('wrong_topic');
  expect([await read(8), await read(9), await read(8)]).toEqual(Array(3).fill('unknown_record'));
  expect(registry.requests).toEqual({ 7: 1, 8: 1, 9: 1 });
});

test('an id that the registry does not have is looked up at most once a minute, and read once it is there', async () => {
  const { read, registry } = registryWith({});
  expect([await read(7), await read(7)]).toEqual(['unknown_schema_id', 'unknown_schema_id']);
  registry.now = MINUTE - 1;
  registry.schemas = { 7: recordNamed('NudgeForgotten') };
  expect(await read(7)).toBe('unknown_schema_id');
  expect(registry.requests).toEqual({ 7: 1 });
  registry.now = MINUTE;
  expect(await read(7)).toBe('newer_event');
  expect(registry.requests).toEqual({ 7: 2 });
});

test('concurrent readers of an unknown id share one request', async () => {
  const { codec, registry } = registryWith({ 7: nudge });
  await Promise.all([1, 2, 3].map(() => codec.learn(new UnknownSchemaId(7))));
  expect(registry.requests).toEqual({ 7: 1 });
});

test('an id is looked up again at the next record if the registry was unreachable', async () => {
  const { read, registry } = registryWith({ 7: recordNamed('NudgeForgotten') });
  registry.isAway = true;
  expect([await read(7), await read(7)]).toEqual(['RegistryTrouble', 'RegistryTrouble']);
  registry.isAway = false;
  expect(await read(7)).toBe('newer_event');
  expect(registry.requests).toEqual({ 7: 3 });
});

test('only the newest 10,000 unknown ids are stored: an older one is looked up again', async () => {
  const { read, registry } = registryWith({});
  for (let id = 1; id <= 10_001; id++) await read(id);
  await read(2);
  expect(registry.requests[2]).toBe(1);
  await read(1);
  expect(registry.requests[1]).toBe(2);
});

test('a Vigil schema that was learned is read', async () => {
  const { codec } = registryWith({ 7: nudge });
  await codec.learn(new UnknownSchemaId(7));
  const event = example(Topic.agentIntervention, 'NUDGE_SENT');
  const ours = createCodec(
    new Map([[schemaOf(Topic.agentIntervention, 'NUDGE_SENT'), 7]]),
    async () => undefined,
    () => 0,
  );
  expect(codec.decode(Topic.agentIntervention, ours.encode(event)).payload).toEqual(event.payload);
});
