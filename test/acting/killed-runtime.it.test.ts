import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Topic } from '@vigil/events';
import { writer } from '@vigil/stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Received, receive } from '../support/received.ts';
import { openSystem, ownServers, type TestSystem, until } from '../support/system.ts';
import { type Instance, openPuppets, type Puppets, terminate } from './puppets.ts';

const env = { VIGIL_POLICY_DIR: path.join(import.meta.dirname, 'policies') };
const topics = [
  Topic.heartbeat,
  Topic.agentHealth,
  Topic.agentIntervention,
  Topic.agentOrder,
  Topic.orderReceipt,
  Topic.controlAgent,
  Topic.taskRecovery,
];
const names = ['one', 'two', 'three'];
/** The time without a supervisor, in which several heartbeats are missing. */
const AWAY_MS = 5000;

/** Kills a runtime with kill -9 while its agents work, and restarts it. No observer may see a change. */
describe.skipIf(!ownServers)('a runtime is killed, and its agents work on', () => {
  let vigil: TestSystem;
  let received: Received;
  let puppets: Puppets;
  let before: readonly (Instance & { readonly pid: number })[] = [];

  const heartbeatsOn = (instance: Instance, by = 2): Promise<Instance> =>
    until(`${instance.agentId} sends more heartbeats`, async () => {
      const now = await puppets.instance(instance.agentId);
      return now.instanceId === instance.instanceId && now.sequence > instance.sequence + by ? now : undefined;
    });

  beforeAll(async () => {
    vigil = await openSystem({ name: 'killed-runtime', policy: 'calm', env });
    received = await receive(vigil, topics);
    puppets = openPuppets(vigil, received, 'calm', names);
    puppets.start();
    for (const name of names) await heartbeatsOn(await puppets.instance(name));
    before = await Promise.all(
      names.map(async (name) => ({ ...(await puppets.instance(name)), pid: puppets.pid(name) })),
    );
    await puppets.kill();
    await sleep(AWAY_MS);
    puppets.start();
    for (const instance of before) await heartbeatsOn(instance, 5);
  }, 300_000);
  afterAll(async () => {
    await puppets?.stop();
    received?.stop();
    await vigil?.stop();
  });

  test('a restarted runtime continues with the same processes and the same instances', () => {
    expect(names.map((name) => puppets.pid(name))).toEqual(before.map(({ pid }) => pid));
    for (const { agentId, instanceId } of before) {
      const heartbeats = puppets.heartbeats(agentId);
      expect(new Set(heartbeats.map(({ instance_id }) => instance_id))).toEqual(new Set([instanceId]));
      const sequences = heartbeats.map(({ sequence }) => sequence ?? 0);
      expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
    }
  });

  test('their work in the meantime is reported, once', async () => {
    for (const { agentId } of before) {
      const heartbeats = puppets.heartbeats(agentId);
      const lines = heartbeats.map(({ output }) => output?.lines ?? 0);
      expect(lines).toEqual([...lines].sort((a, b) => a - b));
      // The parts from the time without a supervisor are many more than the difference.
      const restarted = puppets.parts(agentId);
      await until(`all reports of ${agentId} have arrived`, async () => puppets.lines(agentId) >= restarted);
      expect(puppets.lines(agentId)).toBeLessThanOrEqual(puppets.parts(agentId) + 5);
    }
  });

  test('no agent is judged unhealthy, ordered anything or replaced', async () => {
    const flagged = received
      .of(Topic.agentHealth)
      .filter(({ type }) => type === 'WARRANT_FILED' || type === 'DUPLICATE_INSTANCE');
    expect(flagged).toEqual([]);
    expect(received.of(Topic.agentIntervention)).toEqual([]);
    expect(received.of(Topic.agentOrder)).toEqual([]);
    expect(received.of(Topic.controlAgent)).toEqual([]);
    expect(received.of(Topic.taskRecovery)).toEqual([]);
    for (const name of names) expect(puppets.ends(name)).toBe(0);
  });

  test('the agent of the restarted runtime can be ended by an order', async () => {
    const [instance] = before as [Instance & { readonly pid: number }];
    const order = terminate(instance);
    await writer(vigil.log, Date.now).write([order]);
    const receipt = await until('its receipt', async () => received.of(Topic.orderReceipt).at(0)?.payload);
    expect(receipt).toMatchObject({ orderId: order.payload.orderId, outcome: 'done', confirmed: true });
    expect(puppets.ends('one')).toBe(1);
  });
});
