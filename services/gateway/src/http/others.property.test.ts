import { Topic, type TopicName } from '@vigil/events';
import { example } from '@vigil/events/examples';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { least, showingClaims, testGateway } from '../testing.ts';

/** In everything that belongs to another. */
const THEIRS = 'theirs';

const { log, get, post } = testGateway();

const CLAIMS = {
  tasks: ['own-*'],
  labels: { team: ['own-*'], host: ['own-*'] },
  policies: ['own-policy'],
  capacity: 8,
};
const principals = {
  agent: await showingClaims('agent', 'own-agent', CLAIMS),
  runtime: await showingClaims('runtime', 'own-runtime', CLAIMS),
};

/** Every topic that the gateway writes for its clients. */
const WRITTEN: readonly TopicName[] = [
  Topic.heartbeat,
  Topic.orderReceipt,
  Topic.spawnReceipt,
  Topic.controlAgent,
  Topic.runtimePresence,
];

/** A field of such a name, of any record, names an agent, a task or a runtime, or what decides about one. */
const NAMES = /agent|task|runtime|host|label|polic|template/i;

type Values = Readonly<Record<string, unknown>>;

/** The value with a name of another's, or of one's own, in the place of each text in it. */
const named = (value: unknown, name: string): unknown => {
  if (typeof value === 'string') return name;
  if (Array.isArray(value)) return value.map((one) => named(one, name));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, named(one, name)]));
  return value;
};

const namesIn = (record: Values): readonly string[] => Object.keys(record).filter((field) => NAMES.test(field));

/** One's own values in all fields that name something. */
const own: Values = {
  agent_id: 'own-agent',
  agentId: 'own-agent',
  runtimeId: 'own-runtime',
  parent_agent_id: null,
  policy: 'own-policy',
  capacity: 8,
};

const records = {
  HEARTBEAT: { ...example(Topic.heartbeat, 'HEARTBEAT').payload, ...least },
  ORDER_RECEIPT: example(Topic.orderReceipt, 'ORDER_RECEIPT').payload,
  SPAWN_RECEIPT: example(Topic.spawnReceipt, 'SPAWN_RECEIPT').payload,
  AGENT_EXITED: example(Topic.controlAgent, 'AGENT_EXITED', { orderId: null }).payload,
  RUNTIME_ANNOUNCED: example(Topic.runtimePresence, 'RUNTIME_ANNOUNCED').payload,
} satisfies Readonly<Record<string, Values>>;
type RecordName = keyof typeof records;

const ownRecord = (name: RecordName): Values => {
  const record: Values = records[name];
  const fields = namesIn(record).map((field) => [field, named(record[field], `own-${field}`)] as const);
  return { ...record, ...Object.fromEntries(fields), ...ownOf(record) };
};

const ownOf = (record: Values): Values =>
  Object.fromEntries(Object.entries(own).filter(([field]) => Object.hasOwn(record, field)));

/** What others have: an agent that runs with their runtime, and an order to it. */
const givenOthers = async (): Promise<void> => {
  await log().publish(
    example(Topic.fleetPresence, 'AGENT_PRESENT', {
      ...{ agentId: THEIRS, instanceId: 'i-1', runtimeId: THEIRS },
    }),
    example(Topic.agentOrder, 'NUDGE_AGENT', {
      ...{ orderId: 'order-1', agentId: THEIRS, instanceId: 'i-1', runtimeId: THEIRS, taskId: THEIRS, ttlMs: 60_000 },
    }),
  );
};

const send = (name: RecordName, record: Values, headers: Record<string, string>) =>
  name === 'HEARTBEAT'
    ? post('/v1/heartbeats', record, headers)
    : post('/v1/receipts', { type: name, payload: record }, headers);

const writtenRecords = (): string => JSON.stringify(WRITTEN.flatMap((topic) => log().events(topic)));

const cases = Object.keys(principals).flatMap((kind) =>
  Object.keys(records).map((name) => [kind as keyof typeof principals, name as RecordName] as const),
);

describe.each(cases)("what the token of one %s reports in %s of another's", (kind, name) => {
  const fields = namesIn(records[name]);

  test('agent, task, runtime, label or policy is nothing, in any combination of fields', async () => {
    await givenOthers();
    await fc.assert(
      fc.asyncProperty(fc.subarray([...fields], { minLength: 1 }), async (foreign) => {
        const record = ownRecord(name);
        const changed = Object.fromEntries(
          foreign.map((field) => [field, named((records[name] as Values)[field] ?? '', THEIRS)]),
        );
        const { status } = await send(name, { ...record, ...changed }, principals[kind]);
        expect(status).toBeLessThan(500);
        expect(writtenRecords()).not.toContain(THEIRS);
      }),
      { numRuns: 60 },
    );
  });

  test.each(fields)('is nothing in the field %s alone', async (field) => {
    await givenOthers();
    const foreign = { ...ownRecord(name), [field]: named((records[name] as Values)[field] ?? '', THEIRS) };
    await send(name, foreign, principals[kind]);
    expect(writtenRecords()).not.toContain(THEIRS);
  });
});

test('its own heartbeat, its own end and its own presence are accepted, so the rest is not refused for another reason', async () => {
  const asRuntime = { ...ownRecord('HEARTBEAT'), runtime_id: 'own-runtime' };
  expect((await send('HEARTBEAT', asRuntime, principals.runtime)).status).toBe(202);
  expect((await send('AGENT_EXITED', ownRecord('AGENT_EXITED'), principals.runtime)).status).toBe(202);
  expect((await send('RUNTIME_ANNOUNCED', ownRecord('RUNTIME_ANNOUNCED'), principals.runtime)).status).toBe(202);
});

test('so is the heartbeat of an agent that names no runtime', async () => {
  const asAgent = { ...ownRecord('HEARTBEAT'), runtime_id: null };
  expect((await send('HEARTBEAT', asAgent, principals.agent)).status).toBe(202);
});

test.each(Object.keys(principals) as (keyof typeof principals)[])(
  "a hook or telemetry that names another's agent or task writes nothing (%s)",
  async (kind) => {
    await givenOthers();
    const names = fc.record({ agent: fc.constantFrom('', 'own-agent', THEIRS), task: fc.constantFrom('', THEIRS) });
    await fc.assert(
      fc.asyncProperty(names, async ({ agent, task }) => {
        const hook = { hook_event_name: 'SessionStart', session_id: 's-1', source: 'startup' };
        const headers = { ...principals[kind], 'vigil-agent': agent, 'vigil-task': task };
        expect((await post('/v1/hooks/claude-code', hook, headers)).status).toBeLessThan(500);
        expect(writtenRecords()).not.toContain(THEIRS);
      }),
      { numRuns: 20 },
    );
  },
);

test.each(Object.keys(principals) as (keyof typeof principals)[])(
  "no route gives another's orders to the token of one %s",
  async (kind) => {
    await givenOthers();
    for (const path of [`/v1/agents/${THEIRS}/orders`, `/v1/runtimes/${THEIRS}/orders?wait=0`])
      expect((await get(path, principals[kind])).status).toBe(403);
  },
);
