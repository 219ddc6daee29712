import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { describe, expect, test, vi } from 'vitest';
import { answerOf, least, testGateway } from './testing.ts';

const { log, counted, lag, stop, get, post, reopen } = testGateway();
const nudge = example(Topic.agentOrder, 'NUDGE_AGENT', { ttlMs: 60_000 });
const receipt = example(Topic.orderReceipt, 'ORDER_RECEIPT');

describe('heartbeats', () => {
  test('are accepted when they are written, keyed by their agent, as having come through the gateway', async () => {
    expect(await answerOf(await post('/v1/heartbeats', { ...least, ingress: 'elsewhere' }))).toEqual({
      status: 202,
      body: {
        accepted: 1,
        orders: [],
        policy: { name: 'vigil', hash: 'h1' },
        intervalMs: 30_000,
        intervalReason: 'policy',
        askAtStop: null,
        warnings: [],
        refusal: null,
        successor: null,
        finding: null,
        waitedMs: expect.any(Number),
      },
    });
    expect(log().events(Topic.heartbeat)).toMatchObject([
      { key: 'worker-1', payload: { agent_id: 'worker-1', ingress: 'gateway:a' } },
    ]);
  });

  test('come one or many at a time', async () => {
    const answer = await post('/v1/heartbeats', [least, { ...least, agent_id: 'worker-2' }]);
    expect(await answer.json()).toMatchObject({ accepted: 2 });
    expect(
      log()
        .events(Topic.heartbeat)
        .map(({ key }) => key)
        .sort(),
    ).toEqual(['worker-1', 'worker-2']);
  });

  test("are answered with the agent's pending orders, if no runtime of it polls", async () => {
    await log().publish({ ...nudge, correlationId: 'c-1' });
    const answer = await post('/v1/heartbeats', { ...least, instance_id: 'worker-1.i1' });
    expect(await answer.json()).toMatchObject({ orders: [{ type: 'NUDGE_AGENT', payload: { orderId: 'order-1' } }] });
  });

  describe('of an agent that is watched more closely', () => {
    const asked = async (body: object = least) => {
      const { intervalMs, intervalReason } = (await answerOf(await post('/v1/heartbeats', body))).body;
      return [intervalMs, intervalReason];
    };
    const changed = (to: 'HEALTHY' | 'DEGRADED', agentId = 'worker-1') =>
      log().publish(example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', { agentId, to }));

    test('request heartbeats three times as often while it is not HEALTHY, and name its state', async () => {
      await changed('DEGRADED');
      expect(await asked()).toEqual([10_000, 'DEGRADED']);
      await changed('HEALTHY');
      expect(await asked()).toEqual([30_000, 'policy']);
    });

    test('do the same in its probation, with that reason', async () => {
      const ids = { taskId: 'T-1', newAgentId: 'worker-1' };
      await log().publish(example(Topic.taskRecovery, 'RECOVERY_COMPLETED', ids));
      expect(await asked()).toEqual([10_000, 'probation']);
      await log().publish(example(Topic.taskRecovery, 'PROBATION_PASSED', { taskId: 'T-1', agentId: 'worker-1' }));
      expect(await asked()).toEqual([30_000, 'policy']);
    });

    test('leave the interval of every other agent as its policy sets it', async () => {
      await changed('DEGRADED', 'worker-2');
      expect(await asked()).toEqual([30_000, 'policy']);
    });

    test('name no interval and no reason where the policy sets none', async () => {
      const without = { name: 'vigil', hash: 'h2', document: '{}', withdrawn: false };
      await log().publish(example(Topic.policy, 'POLICY_PUBLISHED', without));
      await changed('DEGRADED');
      expect(await asked()).toEqual([null, null]);
    });

    test('are the same in the answer to a poll of its orders', async () => {
      await changed('DEGRADED');
      const answer = await answerOf(await get('/v1/agents/worker-1/orders'));
      expect(answer.body).toMatchObject({ intervalMs: 10_000, intervalReason: 'DEGRADED' });
    });

    test('are answered with the finding for which this instance is stuck, and with none when it is no longer', async () => {
      const figures = { words: '', onsetAt: null, value: null, limit: null, hard: false, matched: null };
      const evidence = (['absence', 'cost', 'absence'] as const).map((axis) => ({
        ...{ signal: `of ${axis}`, axis, confidence: 'high' as const },
        ...figures,
      }));
      const reason = 'no call for 3 min';
      const stuck = { agentId: 'worker-1', instanceId: 'i-1', to: 'STUCK' as const, reason, evidence };
      const findingOf = async (instance_id: string) =>
        (await answerOf(await post('/v1/heartbeats', { ...least, instance_id }))).body.finding;
      await log().publish(example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', stuck));
      expect(await findingOf('i-1')).toEqual({
        ...{ foundAt: expect.any(Number), reason, axes: ['absence', 'cost'] },
      });
      expect(await findingOf('i-2')).toBeNull();
      await changed('DEGRADED');
      expect(await findingOf('i-1')).toBeNull();
    });

    test('are those of before a restart of the gateway', async () => {
      await changed('DEGRADED');
      await log().publish(example(Topic.taskRecovery, 'RECOVERY_COMPLETED', { taskId: 'T-2', newAgentId: 'worker-2' }));
      await reopen();
      expect(await asked()).toEqual([10_000, 'DEGRADED']);
      expect(await asked({ ...least, agent_id: 'worker-2' })).toEqual([10_000, 'probation']);
    });
  });

  describe('of an agent for which a spending limit is reached', () => {
    const limit = (scope: 'agent' | 'task' | 'day', scopeId: string) =>
      example(Topic.spending, 'SPENDING_LIMIT_REACHED', {
        ...{ scope, scopeId, tokens: 120, usd: null, limitTokens: 100, limitUsd: null, until: null },
      });
    const refusal = async (body: object): Promise<string | null> =>
      (await answerOf(await post('/v1/heartbeats', body))).body.refusal as string | null;
    const own = { ...least, task_id: 'T-1', runtime_id: null };
    const sub = {
      ...{ ...least, agent_id: 'worker-1:Explore-a1', task_id: null, runtime_id: null },
      ...{ parent_agent_id: 'worker-1', labels: { agent_type: 'Explore', parent_task: 'T-1' } },
    };

    test.each([
      ['agent', 'worker-1', 'agent worker-1'],
      ['task', 'T-1', 'task T-1'],
      ['day', 'vigil', 'the day of policy vigil'],
    ] as const)('are answered with the refusal of the %s', async (scope, id, whose) => {
      await log().publish(limit(scope, id));
      await vi.waitFor(async () => expect(await refusal(own)).toContain(`the spending limit of ${whose} is reached`));
      expect(await refusal([sub, own])).toContain(`the spending limit of ${whose} is reached`);
      expect(await refusal(sub)).toContain(`the spending limit of ${whose} is reached`);
    });

    test('are not answered with the limit of another agent or task, or with one that is lifted', async () => {
      const lifted = example(Topic.spending, 'SPENDING_LIMIT_LIFTED', { scope: 'task', scopeId: 'T-1', why: 'raised' });
      await log().publish(limit('agent', 'worker-2'), limit('task', 'T-2'), limit('task', 'T-1'));
      await vi.waitFor(async () => expect(await refusal(own)).toContain('task T-1'));
      await log().publish(lifted);
      await vi.waitFor(async () => expect(await refusal(own)).toBeNull());
    });

    test('are not answered with the limit of the agent where a runtime watches it, which judges that itself', async () => {
      await log().publish(limit('agent', 'worker-1'), limit('agent', 'worker-2'));
      await vi.waitFor(async () => expect(await refusal({ ...own, agent_id: 'worker-2' })).not.toBeNull());
      expect(await refusal({ ...own, runtime_id: 'host-1' })).toBeNull();
    });
  });

  test('an empty list is accepted too', async () => {
    expect((await post('/v1/heartbeats', [])).status).toBe(202);
  });

  test('of a list with one mistake, none is written, and its place is named', async () => {
    const answer = await answerOf(await post('/v1/heartbeats', [least, { ...least, token_count: 'many' }]));
    expect(answer).toMatchObject({ status: 400, body: { index: 1, field: 'token_count' } });
    expect(log().events(Topic.heartbeat)).toEqual([]);
  });

  test('each accepted heartbeat and each refused request is counted', async () => {
    await post('/v1/heartbeats', [least, { ...least, agent_id: 'worker-2' }]);
    await post('/v1/heartbeats', [{ ...least, token_count: 'many' }]);
    expect([counted('heartbeats_accepted'), counted('requests_refused')]).toEqual([2, 1]);
  });
});

describe('a runtime that polls', () => {
  test('receives pending orders at once', async () => {
    await log().publish(nudge);
    const answer = await get('/v1/runtimes/host-1/orders?wait=25');
    const { orders } = (await answer.json()) as { orders: { expiresInMs: number }[] };
    expect(orders).toMatchObject([{ type: 'NUDGE_AGENT', payload: nudge.payload }]);
    expect(orders[0]?.expiresInMs).toBeLessThanOrEqual(nudge.payload.ttlMs);
  });

  test('gets an order when it comes', async () => {
    const polling = get('/v1/runtimes/host-1/orders?wait=25').then(answerOf);
    await post('/v1/heartbeats', least);
    await log().publish(nudge);
    expect((await polling).body.orders).toHaveLength(1);
  });

  test('gets nothing when nothing comes, or what comes is for another', async () => {
    await log().publish(nudge);
    expect(await answerOf(await get('/v1/runtimes/host-2/orders?wait=0.1'))).toEqual({
      status: 200,
      body: { orders: [], recalled: [], terminals: [], waitedMs: expect.any(Number) },
    });
  });

  test('receives no order again after its receipt', async () => {
    await log().publish(nudge);
    expect((await post('/v1/receipts', { type: 'ORDER_RECEIPT', payload: receipt.payload })).status).toBe(202);
    expect((await answerOf(await get('/v1/runtimes/host-1/orders?wait=0.1'))).body.orders).toEqual([]);
  });

  test('is sent home with nothing when the gateway stops', async () => {
    const polling = get('/v1/runtimes/host-1/orders?wait=25').then(answerOf);
    await post('/v1/heartbeats', least);
    stop();
    expect(await polling).toEqual({
      status: 200,
      body: { orders: [], recalled: [], terminals: [], waitedMs: expect.any(Number) },
    });
  });

  test.each([
    '/v1/runtimes/a%0ab/orders',
    '/v1/runtimes/host-1/orders?wait=soon',
    '/v1/runtimes/host-1/orders?wait=-1',
  ])('%s is refused', async (path) => {
    expect((await get(path)).status).toBe(400);
  });
});

describe('an agent that sends its heartbeats to Kafka', () => {
  test('asks for its orders by its own name, without a heartbeat, and receives its policy and interval', async () => {
    await log().publish(nudge);
    expect(await answerOf(await get('/v1/agents/worker-1/orders?instance=worker-1.i1&policy=vigil'))).toMatchObject({
      status: 200,
      body: { orders: [{ payload: { orderId: 'order-1' } }], policy: { hash: 'h1' }, intervalMs: 30_000, waitedMs: 0 },
    });
    expect(log().events(Topic.heartbeat)).toEqual([]);
  });

  test('gets no order for another agent, or for another instance of it', async () => {
    await log().publish(nudge);
    for (const path of ['worker-2/orders?instance=worker-1.i1', 'worker-1/orders?instance=worker-1.i2'])
      expect((await answerOf(await get(`/v1/agents/${path}`))).body.orders).toEqual([]);
  });

  test.each(['a%0ab/orders', 'worker-1/orders?instance=a%20b'])('%s is refused', async (path) => {
    expect((await get(`/v1/agents/${path}`)).status).toBe(400);
  });
});

describe('receipts', () => {
  test('are written each to its topic, under its key, in the chain that its order began', async () => {
    await log().publish({ ...nudge, correlationId: 'c-1' });
    const spawned = example(Topic.spawnReceipt, 'SPAWN_RECEIPT', { orderId: 'order-2' });
    const exited = example(Topic.controlAgent, 'AGENT_EXITED', { orderId: null });
    const announced = example(Topic.runtimePresence, 'RUNTIME_ANNOUNCED');
    const records = [receipt, spawned, exited, announced].map(({ type, payload }) => ({ type, payload }));
    expect(await answerOf(await post('/v1/receipts', records))).toEqual({ status: 202, body: { accepted: 4 } });
    expect(log().events(Topic.orderReceipt)).toMatchObject([
      { key: 'worker-1', payload: receipt.payload, correlationId: 'c-1' },
    ]);
    expect(log().events(Topic.spawnReceipt)).toMatchObject([
      { key: 'OMN-1234', payload: spawned.payload, correlationId: 'order-2' },
    ]);
    expect(log().events(Topic.controlAgent)).toMatchObject([{ key: 'worker-1', payload: exited.payload }]);
    expect(log().events(Topic.runtimePresence)).toMatchObject([{ key: 'fleet', payload: announced.payload }]);
  });

  test('sent twice have one id', async () => {
    for (const _time of [1, 2]) await post('/v1/receipts', { type: 'ORDER_RECEIPT', payload: receipt.payload });
    const [first, second] = log().events(Topic.orderReceipt);
    expect(first?.eventId).toBe(second?.eventId);
  });

  test.each([
    [{ type: 'CONFIRM_DEATH', payload: {} }, 'type'],
    [{ type: 'constructor', payload: {} }, 'type'],
    [null, 'type'],
    [{ type: 'ORDER_RECEIPT' }, ''],
    [{ type: 'ORDER_RECEIPT', payload: { ...receipt.payload, agentId: 'a b' } }, 'agentId'],
  ])('%j is refused, naming %j', async (body, field) => {
    expect(await answerOf(await post('/v1/receipts', body))).toMatchObject({ status: 400, body: { field } });
  });
});

describe('a policy', () => {
  test('is served by name, and not again to a client that has it', async () => {
    const response = await get('/v1/policies/vigil');
    expect(response.headers.get('etag')).toBe('"h1"');
    expect(await response.json()).toEqual({ name: 'vigil', hash: 'h1', document: { heartbeat: { interval: '30s' } } });
    expect((await get('/v1/policies/vigil', { 'if-none-match': '"h1"' })).status).toBe(304);
    expect((await get('/v1/policies/vigil', { 'if-none-match': '"h0"' })).status).toBe(200);
  });

  test('that was never published is not found', async () => {
    expect((await get('/v1/policies/missing')).status).toBe(404);
  });
});

describe('a halted fleet', () => {
  const halted = () => log().publish(example(Topic.fleetGovernance, 'FLEET_HALTED', { by: 'ada', why: 'it burns' }));
  const resumed = () => log().publish(example(Topic.fleetGovernance, 'FLEET_RESUMED', { by: 'ada', why: 'put out' }));
  const polled = async () => (await answerOf(await get('/v1/runtimes/host-1/orders?wait=0.1'))).body;

  test('has the orders of a runtime recalled, also by a poll that waits, and offered again when the fleet resumes', async () => {
    await log().publish(nudge);
    expect((await polled()).orders).toHaveLength(1);
    const polling = get('/v1/runtimes/host-1/orders?wait=25').then(answerOf);
    await post('/v1/heartbeats', least);
    await halted();
    expect((await polling).body).toMatchObject({ orders: [], recalled: [{ payload: { orderId: 'order-1' } }] });
    await resumed();
    expect(await polled()).toMatchObject({ orders: [{ payload: { orderId: 'order-1' } }], recalled: [] });
  });

  const lagging = async () => {
    lag();
    await halted();
    await log().publish(example(Topic.fleetGovernance, 'BRAKE_RELEASED'));
  };

  test('a gateway that lags and has not read the halt offers no order', async () => {
    await log().publish(nudge);
    await lagging();
    expect(await polled()).toMatchObject({ orders: [], recalled: [] });
  });

  test('has no text given to an agent that has no runtime', async () => {
    await log().publish(nudge);
    await lagging();
    const answer = await post('/v1/heartbeats', { ...least, instance_id: 'worker-1.i1' });
    expect((await answerOf(answer)).body.orders).toEqual([]);
    const polled = await get('/v1/agents/worker-1/orders?instance=worker-1.i1&policy=vigil');
    expect((await answerOf(polled)).body.orders).toEqual([]);
  });
});
