import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Heartbeat, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { type Command, connect, overGateway, overKafka, type Settings, type Vigil } from '@vigil/sdk';
import { type Side, transportContract } from '@vigil/sdk/contract';
import { writer } from '@vigil/stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSystem, ownServers, type TestSystem, until } from '../support/system.ts';

describe.skipIf(!ownServers)('an agent that reports itself', () => {
  let system: TestSystem;
  const agents: Vigil[] = [];
  beforeAll(async () => {
    system = await openSystem({ name: 'sdk', services: ['heartbeat-ingest', 'health-evaluator', 'gateway'] });
  });
  afterAll(async () => {
    await Promise.all(agents.map((agent) => agent.close({ withinMs: 500 })));
    await system?.stop();
  });

  const gatewayOf = () => ({ url: system.system.env.VIGIL_GATEWAY_URL, token: system.system.env.VIGIL_GATEWAY_TOKEN });
  const brokers = () => system.servers.env.KAFKA_BROKERS.split(',');
  const registryUrl = () => system.servers.env.SCHEMA_REGISTRY_URL;
  const started = (settings: Settings): Vigil => {
    const agent = connect({ intervalMs: 300, onProblem: () => {}, ...settings });
    agents.push(agent);
    return agent;
  };
  /** The observations of an agent, in order. */
  const observed = async (agentId: string): Promise<readonly Heartbeat[]> =>
    (await system.events(Topic.agentObservation))
      .filter(({ key, type }) => key === agentId && type === 'AGENT_HEARTBEAT')
      .map(({ payload }) => payload as Heartbeat);
  /** Keeps the first of a heartbeat that was sent again because it had no answer. */
  const callsOf = (heartbeats: readonly Heartbeat[]) =>
    heartbeats
      .filter(({ sequence }, place) => heartbeats.findIndex((heartbeat) => heartbeat.sequence === sequence) === place)
      .flatMap(({ tool_calls }) => tool_calls)
      .filter(({ outcome }) => outcome !== 'running')
      .map(({ tool, outcome }) => `${tool} ${outcome}`);
  const untilEnded = (agentId: string) =>
    until(`the end of ${agentId}`, async () => {
      const seen = await observed(agentId);
      return seen.some(({ exit }) => exit !== null) && seen;
    });
  const nudged = async (agentId: string, instanceId: string, message: string): Promise<void> => {
    const about = { orderId: `order-${agentId}-${message.length}`, agentId, instanceId, message };
    const { topic, type, payload } = example(Topic.agentOrder, 'NUDGE_AGENT', {
      ...about,
      ...{ runtimeId: '', ttlMs: 60_000, number: 1, axes: ['repetition'], awaits: null, foldedSequence: null },
    });
    await writer(system.log, Date.now).write([{ topic, type, payload, key: agentId }]);
  };
  const receipts = async (agentId: string) =>
    (await system.events(Topic.orderReceipt))
      .filter(({ key }) => key === agentId)
      .map(({ payload }) => payload.outcome);

  test('is observed with its reports and calls, over the gateway', async () => {
    const agent = started({ agentId: 'over-gateway', taskId: 'OMN-7', over: overGateway(gatewayOf()) });
    agent.report({ phase: 'build', tokens: 120, context: { used: 10, max: 100 }, step: 'ACCEPT' });
    await agent.call({ tool: 'Read', args: { path: 'a.ts' }, target: 'a.ts' }, () => 'text');
    await agent.call({ tool: 'Bash', args: 'make' }, () => Promise.reject(new Error('boom'))).catch(() => {});
    await agent.close({ reason: 'finished', code: 0, withinMs: 30_000 });
    const heartbeats = await untilEnded('over-gateway');
    expect(callsOf(heartbeats)).toEqual(['Read ok', 'Bash error']);
    expect(heartbeats.at(-1)).toMatchObject({
      instance_id: agent.instanceId,
      task_id: 'OMN-7',
      ingress: expect.stringMatching(/^gateway:./),
      phase: 'build',
      token_count: 120,
      error_count: 1,
      context: { tokens_used: 10, tokens_max: 100 },
      activity: 'finished',
      exit: { reason: 'finished', code: 0 },
      breakers: [{ name: 'tool_execution', state: 'CLOSED', failures: 1 }],
    });
  });

  test.each([true, false])('is observed with its reports and calls, straight over Kafka (Avro: %s)', async (avro) => {
    const agentId = `over-kafka-${avro}`;
    const over = overKafka({ brokers: brokers(), registryUrl: avro ? registryUrl() : undefined });
    const agent = started({ agentId, over });
    await agent.call({ tool: 'Edit', mutating: true }, () => 'done');
    await agent.close({ withinMs: 30_000 });
    const heartbeats = await untilEnded(agentId);
    expect(callsOf(heartbeats)).toEqual(['Edit ok']);
    expect(heartbeats.at(-1)).toMatchObject({ ingress: null, activity: 'finished' });
  });

  test.each(['gateway', 'Kafka'])('is ended by its close, over %s', async (way) => {
    const agentId = `closed-${way}`;
    const over = way === 'gateway' ? overGateway(gatewayOf()) : overKafka({ brokers: brokers() });
    const agent = started({ agentId, taskId: `T-${way}`, over });
    await agent.call({ tool: 'Edit' }, () => 'done');
    await agent.close({ reason: 'finished', withinMs: 30_000 });
    await until(`the end of ${agentId}`, async () =>
      (await system.events(Topic.agentHealth)).some(
        ({ key, type, payload }) =>
          key === agentId &&
          type === 'HEALTH_STATE_CHANGED' &&
          payload.to === 'TERMINATED' &&
          payload.endReason === 'finished',
      ),
    );
  });

  test('is not delayed by a gateway that hangs or dies; when it is back, the newest state arrives, and each call once', async () => {
    const agent = started({ agentId: 'outage', over: overGateway(gatewayOf()) });
    await until('the first heartbeat', async () => (await observed('outage')).length > 0);
    const gateway = system.system.service('gateway');
    gateway.freeze();
    for (let n = 1; n <= 20; n += 1) await agent.call({ tool: `t${n}`, args: n }, () => n);
    agent.report({ progress: '20/40' });
    gateway.thaw();
    gateway.kill('SIGKILL');
    for (let n = 21; n <= 40; n += 1) await agent.call({ tool: `t${n}`, args: n }, () => n);
    agent.report({ progress: '40/40' });
    const heartbeats = await until('the newest state', async () => {
      const seen = await observed('outage');
      return seen.at(-1)?.progress_indicator === '40/40' && seen;
    });
    expect(callsOf(heartbeats)).toEqual(Array.from({ length: 40 }, (_, n) => `t${n + 1} ok`));
    expect(agent.status.leftOut).toBe(0);
  });

  test.each(['gateway', 'Kafka'])('receives a nudge, over %s, and its receipt is written', async (way) => {
    const agentId = `nudged-${way}`;
    const gateway = gatewayOf();
    const received = Promise.withResolvers<Command>();
    const over = way === 'gateway' ? overGateway(gateway) : overKafka({ brokers: brokers(), gateway });
    const agent = started({ agentId, over, onCommand: received.resolve });
    await until('the first heartbeat', async () => (await observed(agentId)).length > 0);
    await nudged(agentId, agent.instanceId, 'are you stuck?');
    expect(await received.promise).toEqual({ kind: 'nudge', message: 'are you stuck?' });
    await until('the receipt', async () => (await receipts(agentId)).includes('delivered'));
  });

  test('renews its token in its file, and reports beyond the time of the first', async () => {
    const { url, token } = gatewayOf();
    const created = await fetch(new URL('/v1/tokens', url), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ kind: 'agent', name: 'renewing', validMs: 6000, by: 'ada' }),
    });
    const first = (await created.json()) as { readonly token: string; readonly expiresAt: number };
    const tokenFile = path.join(system.dir, 'renewing.token');
    writeFileSync(tokenFile, first.token, { mode: 0o600 });
    started({ agentId: 'renewing', over: overGateway({ url, tokenFile }) });
    await until('a heartbeat after the first token has expired', async () => {
      const written = (await system.events(Topic.agentObservation)).filter(({ key }) => key === 'renewing');
      return written.some(({ occurredAt }) => occurredAt > first.expiresAt + 1000);
    });
    expect(readFileSync(tokenFile, 'utf8').trim()).not.toBe(first.token);
    expect((await observed('renewing')).at(-1)?.verified).toMatchObject({ kind: 'agent', name: 'renewing' });
  });

  const decoded = (value: Buffer): Heartbeat =>
    value[0] === 0
      ? (system.log.codec.decode(Topic.heartbeat, value).payload as Heartbeat)
      : JSON.parse(value.toString('utf8'));
  const side: Side = {
    over: () => overKafka({ brokers: brokers(), registryUrl: registryUrl(), gateway: gatewayOf() }),
    agentId: (name) => `way-${name}`,
    arrived: async (agentId) =>
      (await system.records(Topic.heartbeat))
        .filter(({ key, value }) => key === agentId && value !== null)
        .map(({ value }) => decoded(value as Buffer)),
    away: async () => void (await Promise.all(system.servers.brokers.map((broker) => broker.kill('SIGKILL')))),
    back: async () => void (await Promise.all(system.servers.brokers.map((broker) => broker.restart()))),
    nudge: nudged,
  };
  describe('over Kafka', () => transportContract(side));
});
