import { type ToolCall, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { noProgress } from '../report/progress.ts';
import { realSystem } from '../system.ts';
import { gatewaySide, socketSide } from './servers.fixture.ts';
import { transportContract } from './transport.contract.ts';

const LIMIT = { timeout: 60_000, interval: 20 };
const gateway = await gatewaySide();
const socket = await socketSide();
afterAll(() => Promise.all([gateway.close(), socket.close()]));

describe('over the gateway', () => {
  transportContract(gateway);

  test('a delivered command has a receipt', async () => {
    await vi.waitUntil(() => gateway.receipts.length > 0, LIMIT);
    expect(gateway.receipts).toMatchObject([
      { type: 'ORDER_RECEIPT', payload: { orderId: 'o-commands', outcome: 'delivered', runtimeId: 'commands' } },
    ]);
  });
});

describe('over the socket of its supervisor', () => {
  transportContract(socket);

  test.each([
    ['is confirmed', true, ['o-commands']],
    ['without a listener is not confirmed', false, []],
  ])('a text %s', async (_, isListening, received) => {
    const fresh = await socketSide();
    const delivered = Promise.withResolvers<void>();
    const identity = { agentId: 'a', instanceId: 'i', taskId: null, runtimeId: null, attempt: null, maxAttempts: null };
    const deliver = () => {
      delivered.resolve();
      return isListening;
    };
    const deps = {
      identity: { ...identity, policy: null, labels: {} },
      system: realSystem(),
      deliver,
      progress: () => noProgress,
    };
    const way = fresh.over()({ ...deps, onProblem: () => {} });
    const { payload } = example(Topic.heartbeat, 'HEARTBEAT', { tool_calls: [], errors: [], phase: 'build' });
    await way.send(payload, AbortSignal.timeout(5000));
    const lines = () =>
      fresh.arrived('any') as Promise<readonly { readonly phase?: string; readonly received?: string }[]>;
    await vi.waitUntil(async () => (await lines()).length > 0, LIMIT);
    await fresh.nudge('a', 'i', 'still there?');
    await delivered.promise;
    await way.send({ ...payload, phase: 'after' }, AbortSignal.timeout(5000));
    await vi.waitUntil(async () => (await lines()).some(({ phase }) => phase === 'after'), LIMIT);
    expect((await lines()).flatMap((one) => one.received ?? [])).toEqual(received);
    await way.close();
    await fresh.close();
  });

  test('sends what the agent reported, in lines of the accepted size, and omits the fields that its supervisor or another source reports', async () => {
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
    const identity = { agentId: 'a', instanceId: 'i', taskId: null, runtimeId: null, attempt: null, maxAttempts: null };
    const handlers = { deliver: () => true, progress: () => noProgress, onProblem: () => {} };
    const way = fresh.over()({
      identity: { ...identity, policy: null, labels: {} },
      system: realSystem(),
      ...handlers,
    });
    await way.send({ ...payload, tool_calls }, AbortSignal.timeout(5000));
    const reportedCalls = async () => (await fresh.arrived('any')).flatMap((line) => line.tool_calls ?? []).length;
    await vi.waitUntil(async () => (await reportedCalls()) >= tool_calls.length, LIMIT);
    const lines = await fresh.arrived('any');
    expect(lines.map(({ phase }) => phase)).toContain('build');
    const absent = [
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
    expect(lines.flatMap(Object.keys).filter((field) => absent.includes(field))).toEqual([]);
    expect(lines.flatMap((line) => line.tool_calls ?? []).map(({ call_id }) => call_id)).toEqual(
      tool_calls.map(({ call_id }) => call_id),
    );
    expect(Math.max(...lines.map((line) => line.tool_calls?.length ?? 0))).toBe(20);
    await way.close();
    await fresh.close();
  });
});
