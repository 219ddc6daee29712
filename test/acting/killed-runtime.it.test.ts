import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Topic } from '@vigil/events';
import { writer } from '@vigil/stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Heard, hear } from '../support/heard.ts';
import { openSystem, ownServers, type TestSystem, until } from '../support/system.ts';
import { type Life, openPuppets, type Puppets, terminate } from './puppets.ts';

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
/** How long nobody supervises them: several heartbeats are missing. */
const AWAY_MS = 5000;

/** kill -9 a runtime while its agents work, and start it again: for everybody else nothing has happened. */
describe.skipIf(!ownServers)('a runtime is killed, and its agents work on', () => {
  let vigil: TestSystem;
  let heard: Heard;
  let puppets: Puppets;
  let before: readonly (Life & { readonly pid: number })[] = [];

  const beatsOn = (life: Life, by = 2): Promise<Life> =>
    until(`${life.agentId} beats on`, async () => {
      const now = await puppets.life(life.agentId);
      return now.instanceId === life.instanceId && now.sequence > life.sequence + by ? now : undefined;
    });
  const beatsOf = (name: string) =>
    heard
      .of(Topic.heartbeat)
      .map(({ payload }) => payload)
      .filter(({ agent_id }) => agent_id === name);
  /** Parts of its work that its terminal has shown: a line each. */
  const partsOf = (name: string): number => beatsOf(name).at(-1)?.output?.lines ?? 0;

  beforeAll(async () => {
    vigil = await openSystem({ name: 'killed-runtime', policy: 'calm', env });
    heard = await hear(vigil, topics);
    puppets = openPuppets(vigil, heard, 'calm', names);
    puppets.start();
    for (const name of names) await beatsOn(await puppets.life(name));
    before = await Promise.all(names.map(async (name) => ({ ...(await puppets.life(name)), pid: puppets.pid(name) })));
    await puppets.kill();
    await sleep(AWAY_MS);
    puppets.start();
    for (const life of before) await beatsOn(life, 5);
  }, 300_000);
  afterAll(async () => {
    await puppets?.stop();
    heard?.stop();
    await vigil?.stop();
  });

  test('started again it goes on with the same processes and the same lives', () => {
    expect(names.map((name) => puppets.pid(name))).toEqual(before.map(({ pid }) => pid));
    for (const { agentId, instanceId } of before) {
      const beats = beatsOf(agentId);
      expect(new Set(beats.map(({ instance_id }) => instance_id))).toEqual(new Set([instanceId]));
      const sequences = beats.map(({ sequence }) => sequence ?? 0);
      expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
    }
  });

  test('what they did meanwhile is known, once', async () => {
    for (const { agentId } of before) {
      const beats = beatsOf(agentId);
      const lines = beats.map(({ output }) => output?.lines ?? 0);
      expect(lines).toEqual([...lines].sort((a, b) => a - b));
      // Those of the time without a supervisor are many more than the difference.
      const told = puppets.parts(agentId);
      await until(`all that ${agentId} has told is known`, async () => partsOf(agentId) >= told);
      expect(partsOf(agentId)).toBeLessThanOrEqual(puppets.parts(agentId) + 5);
    }
  });

  test('nobody is accused, nothing is ordered, and nobody is replaced', async () => {
    const accused = heard
      .of(Topic.agentHealth)
      .filter(({ type }) => type === 'WARRANT_FILED' || type === 'DUPLICATE_INSTANCE');
    expect(accused).toEqual([]);
    expect(heard.of(Topic.agentIntervention)).toEqual([]);
    expect(heard.of(Topic.agentOrder)).toEqual([]);
    expect(heard.of(Topic.controlAgent)).toEqual([]);
    expect(heard.of(Topic.taskRecovery)).toEqual([]);
    for (const name of names) expect(puppets.ends(name)).toBe(0);
  });

  test('the one who came back ends by order', async () => {
    const [life] = before as [Life & { readonly pid: number }];
    const order = terminate(life);
    await writer(vigil.log).write([order]);
    const receipt = await until('its receipt', async () => heard.of(Topic.orderReceipt).at(0)?.payload);
    expect(receipt).toMatchObject({ orderId: order.payload.orderId, outcome: 'done', confirmed: true });
    expect(puppets.ends('one')).toBe(1);
  });
});
