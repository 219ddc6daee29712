import { type ToolCall, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { noProgress } from '../progress.ts';
import { realWorld } from '../world.ts';
import { gatewaySide, socketSide } from './servers.fixture.ts';
import { transportContract } from './transport.contract.ts';

const LIMIT = { timeout: 60_000, interval: 20 };
const gateway = await gatewaySide();
const socket = await socketSide();
afterAll(() => Promise.all([gateway.close(), socket.close()]));

describe('over the gateway', () => {
  transportContract(gateway);

  test('a word that was passed on is receipted', async () => {
    await vi.waitUntil(() => gateway.receipts.length > 0, LIMIT);
    expect(gateway.receipts).toMatchObject([
      { type: 'ORDER_RECEIPT', payload: { orderId: 'o-hears', outcome: 'delivered', runtimeId: 'hears' } },
    ]);
  });
});

describe('over the socket of its supervisor', () => {
  transportContract(socket);

  test.each([
    ['is confirmed', true, ['o-hears']],
    ['that the agent listens to no words for is not confirmed', false, []],
  ])('a text %s', async (_, isListening, received) => {
    const fresh = await socketSide();
    const heard = Promise.withResolvers<void>();
    const who = { agentId: 'a', instanceId: 'i', taskId: null, runtimeId: null, attempt: null, maxAttempts: null };
    const hear = () => {
      heard.resolve();
      return isListening;
    };
    const line = { who: { ...who, policy: null, labels: {} }, world: realWorld(), hear, progress: () => noProgress };
    const way = fresh.over()({ ...line, tell: () => {} });
    const { payload } = example(Topic.heartbeat, 'HEARTBEAT', { tool_calls: [], errors: [], phase: 'build' });
    await way.send(payload, AbortSignal.timeout(5000));
    const lines = () =>
      fresh.arrived('says') as Promise<readonly { readonly phase?: string; readonly received?: string }[]>;
    await vi.waitUntil(async () => (await lines()).length > 0, LIMIT);
    await fresh.nudge('a', 'i', 'still there?');
    await heard.promise;
    await way.send({ ...payload, phase: 'after' }, AbortSignal.timeout(5000));
    await vi.waitUntil(async () => (await lines()).some(({ phase }) => phase === 'after'), LIMIT);
    expect((await lines()).flatMap((one) => one.received ?? [])).toEqual(received);
    await way.close();
    await fresh.close();
  });

  test('it says of the agent what was said, in lines that are taken, and leaves the rest to its supervisor and to others', async () => {
    const fresh = await socketSide();
    const { payload } = example(Topic.heartbeat, 'HEARTBEAT', {
      context: null,
      token_count: 0,
      blockers: [],
      phase: 'build',
    });
    const tool_calls = Array.from({ length: 100 }, (_, n) => ({
      ...(payload.tool_calls[0] as ToolCall),
      call_id: `c${n}`,
    }));
    const who = { agentId: 'a', instanceId: 'i', taskId: null, runtimeId: null, attempt: null, maxAttempts: null };
    const heard = { hear: () => true, progress: () => noProgress, tell: () => {} };
    const way = fresh.over()({ who: { ...who, policy: null, labels: {} }, world: realWorld(), ...heard });
    await way.send({ ...payload, tool_calls }, AbortSignal.timeout(5000));
    const told = async () => (await fresh.arrived('says')).flatMap((line) => line.tool_calls ?? []).length;
    await vi.waitUntil(async () => (await told()) >= tool_calls.length, LIMIT);
    const lines = await fresh.arrived('says');
    expect(lines.map(({ phase }) => phase)).toContain('build');
    const unsaid = [
      'agent_id',
      'instance_id',
      'sequence',
      'timestamp',
      'exit',
      'output',
      'context',
      'token_count',
      'blockers',
    ];
    expect(lines.flatMap(Object.keys).filter((field) => unsaid.includes(field))).toEqual([]);
    expect(lines.flatMap((line) => line.tool_calls ?? []).map(({ call_id }) => call_id)).toEqual(
      tool_calls.map(({ call_id }) => call_id),
    );
    expect(Math.max(...lines.map((line) => line.tool_calls?.length ?? 0))).toBe(20);
    await way.close();
    await fresh.close();
  });
});
