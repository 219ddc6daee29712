import { catalogue, Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { apply, createDays, type Database, notify, outcomeOf, prepareDays, readModel } from '@vigil/read-model';
import { dump, scratchReadModel } from '@vigil/read-model/testing';
import type { PlacedEvent } from '@vigil/stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ProjectedTopic, project, reads } from './project.ts';

type Event = PlacedEvent<ProjectedTopic>;

/** Every event of every topic that is read, three times over with rising versions. */
const log = (): readonly Event[] => {
  const versions = new Map<string, number>();
  const drafts = [1, 2, 3].flatMap((round) =>
    reads.flatMap((topic) => catalogue[topic].events.map(({ type }) => ({ topic, type, round }))),
  );
  return drafts.map(({ topic, type, round }, i) => {
    const event = example(topic, type as never) as Event;
    const writer = catalogue[topic].writers.join();
    const version = (versions.get(writer) ?? 0) + 1;
    versions.set(writer, version);
    const versioned = topic === Topic.agentObservation ? { version: null, epoch: null } : { version };
    const payload = topic === Topic.agentOrder ? { ...event.payload, orderId: `order-${i}` } : event.payload;
    return {
      ...event,
      ...versioned,
      payload,
      eventId: `event-${i}`,
      offset: i,
      occurredAt: EXAMPLE_TIME + round * 1000 + i,
    } as Event;
  });
};

const applied = async (database: Database, events: readonly Event[], size: number): Promise<void> => {
  const days = createDays();
  for (let at = 0; at < events.length; at += size) {
    const statements = events.slice(at, at + size).flatMap(project);
    await prepareDays(database, days, statements);
    await database.transaction(async (sql) => {
      await apply(sql, statements);
      await notify(sql, statements);
    });
  }
};

test('the same events give the same rows, in any order and with any number of repetitions', async () => {
  await using inOrder = await scratchReadModel();
  await applied(inOrder, log(), 1000);
  const expected = await dump(inOrder);
  // A compaction is seen in two heartbeats.
  const empty = Object.keys(expected).filter((table) => expected[table]?.length === 0);
  expect(empty).toEqual(['compactions']);

  const orders = fc.shuffledSubarray([...log(), ...log()], { minLength: 2 * log().length });
  await fc.assert(
    fc.asyncProperty(orders, fc.integer({ min: 1, max: 300 }), async (events, size) => {
      await using database = await scratchReadModel();
      await applied(database, events, size);
      expect(await dump(database)).toEqual(expected);
    }),
    { numRuns: 4 },
  );
});

test('rows without a version are ordered by the log, so a broker whose clock is behind changes nothing', async () => {
  await using database = await scratchReadModel();
  const bare = { version: null, epoch: null };
  const announced = example(Topic.runtimePresence, 'RUNTIME_ANNOUNCED');
  const first = { ...announced, ...bare, offset: 1, occurredAt: EXAMPLE_TIME + 2000 };
  const last = { ...first, offset: 2, occurredAt: EXAMPLE_TIME, payload: { ...announced.payload, host: 'moved' } };
  await applied(database, [last, first] as Event[], 1);
  const { runtimes } = await dump(database);
  expect(runtimes).toMatchObject([{ host: 'moved' }]);
});

test('the outcome of a hold is the event of the evaluator, found by the id of the command', async () => {
  await using database = await scratchReadModel();
  const requested = { ...example(Topic.agentObservation, 'HOLD_AGENT', { agentId: 'a' }), eventId: 'echo' };
  const chain = { causationId: 'echo', correlationId: 'command' };
  const held = {
    ...example(Topic.agentHealth, 'HOLD_CHANGED', { agentId: 'a', held: true }),
    ...chain,
    eventId: 'held',
  };
  await applied(
    database,
    [{ ...requested, offset: 1, causationId: 'command', correlationId: 'command' }] as Event[],
    1,
  );
  expect(await readModel(database).outcomes('command')).toEqual([]);
  await applied(database, [{ ...held, offset: 2 }] as Event[], 1);
  expect(await readModel(database).outcomes('command')).toMatchObject([{ eventId: 'held', type: 'HOLD_CHANGED' }]);
  expect(await readModel(database).agent('a')).toMatchObject({ held: true });
});

test('the answer to one of several commands is an outcome of that command and of the first of them, and no copy of ingest is', async () => {
  await using database = await scratchReadModel();
  const copy = { ...example(Topic.agentObservation, 'CONFIRM_DEATH', { agentId: 'b' }), eventId: 'echo' };
  const answer = example(Topic.agentHealth, 'CONTROL_APPLIED', { agentId: 'b', groupId: 'first', of: 2 });
  const second = { causationId: 'echo', correlationId: 'second' };
  await applied(
    database,
    [
      { ...copy, offset: 1, causationId: 'second', correlationId: 'second' },
      { ...answer, ...second, eventId: 'answer', offset: 2 },
    ] as Event[],
    1,
  );
  for (const commandId of ['first', 'second'])
    expect(await readModel(database).outcomes(commandId)).toMatchObject([
      { eventId: 'answer', type: 'CONTROL_APPLIED' },
    ]);
});

test('the outcome of a test of a channel has its deliveries, and the open alert about a sink of it that fails', async () => {
  await using database = await scratchReadModel();
  const caused = { causationId: 'tested', correlationId: 'tested' };
  const raised = example(Topic.alert, 'ALERT_RAISED', {
    ...{ alertId: 'tested', alertKey: 'test', route: 'channel_test', sinks: ['ops', 'console'] },
  });
  const delivered = example(Topic.alert, 'ALERT_DELIVERED', { alertId: 'tested', sink: 'console', ok: true });
  const failing = (sink: string) =>
    example(Topic.alert, 'ALERT_RAISED', {
      ...{ alertId: `f-${sink}`, alertKey: `sink_failing:${sink}`, route: 'sink_failing', text: `${sink} is down` },
    });
  const events = [{ ...raised, ...caused }, delivered, failing('ops'), failing('other')];
  await applied(database, events.map((event, offset) => ({ ...event, eventId: `e${offset}`, offset })) as Event[], 1);
  expect(outcomeOf('tested', await readModel(database).outcomes('tested'))).toMatchObject({
    outcome: 'refused',
    reason: 'delivered to console; not delivered to ops: ops is down',
  });
});

test('a refused hold changes no row of the agent', async () => {
  await using database = await scratchReadModel();
  const requested = { ...example(Topic.agentObservation, 'HOLD_AGENT', { agentId: 'a' }), offset: 1 };
  const refused = { ...example(Topic.agentHealth, 'HOLD_REFUSED', { agentId: 'a' }), eventId: 'refused', offset: 2 };
  await applied(database, [requested, refused] as Event[], 1);
  expect(await readModel(database).agent('a')).toBeNull();
});

test('a policy counts the living agents that it judges now: not those that ended, and those that began again once', async () => {
  await using database = await scratchReadModel();
  let n = 0;
  const placed = <E>(event: E): Event => {
    n += 1;
    return { ...event, eventId: `e-${n}`, offset: n, version: n, epoch: 0, occurredAt: EXAMPLE_TIME + n } as never;
  };
  const policyNamed = (name: string) => ({ name, hash: name });
  const began = (agentId: string, instanceId: string, policyName: string) =>
    placed({
      ...example(Topic.agentHealth, 'INSTANCE_STARTED', { agentId, instanceId }),
      policy: policyNamed(policyName),
    });
  const became = (agentId: string, instanceId: string, to: 'STUCK' | 'TERMINATED', policyName: string) =>
    placed({
      ...example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', { agentId, instanceId, to }),
      policy: policyNamed(policyName),
    });
  const applies = (name: string) =>
    placed(example(Topic.policy, 'POLICY_PUBLISHED', { name, hash: name, withdrawn: false }));
  await applied(
    database,
    [
      ...[applies('standard'), applies('patient')],
      ...[began('new', 'i1', 'standard'), began('stuck', 'i1', 'standard'), became('stuck', 'i1', 'STUCK', 'standard')],
      ...[began('ended', 'i1', 'standard'), became('ended', 'i1', 'TERMINATED', 'standard')],
      ...[began('again', 'i1', 'standard'), became('again', 'i1', 'TERMINATED', 'standard')],
      ...[began('again', 'i2', 'patient')],
    ],
    1,
  );
  const counts = (await readModel(database).policies()).map(({ name, agents }) => [name, agents]);
  expect(counts).toEqual([
    ['patient', 1],
    ['standard', 2],
  ]);
});

test('hostile strings and impossible times become rows too', async () => {
  await using database = await scratchReadModel();
  const hostile = `'; DROP TABLE agents; --\0\uD800 \\x00 \u001b[2J`;
  const heartbeat = example(Topic.agentObservation, 'AGENT_HEARTBEAT', {
    phase: hostile,
    labels: { [hostile]: hostile },
  });
  const output = {
    ...heartbeat.payload.output,
    last_output_at: 8e15,
    tail: [hostile],
  } as typeof heartbeat.payload.output;
  await applied(database, [{ ...heartbeat, offset: 0, payload: { ...heartbeat.payload, output } }], 1);
  const agent = await readModel(database).agent('worker-1');
  expect(agent?.phase).toBe(`'; DROP TABLE agents; --\uFFFD\uFFFD \\x00 \u001b[2J`);
  expect(agent?.lastOutputAt).toBeNull();
});
