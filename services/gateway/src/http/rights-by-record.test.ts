import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { describe, expect, test } from 'vitest';
import { answerOf, least, showingClaims, testGateway } from '../testing.ts';
import { agent, exited, nudge, own, receiptWith, refusal, runtime, spawn, spawned } from './rights.fixture.ts';

const { log, lag, post } = testGateway();

describe('an order that the instance asked has not seen', () => {
  const unseen = async () => {
    lag();
    await log().publish(nudge);
  };

  test('is looked for in the log before a receipt for it is judged', async () => {
    await unseen();
    expect((await post('/v1/receipts', receiptWith({}), runtime)).status).toBe(202);
    expect((await post('/v1/receipts', receiptWith({ agentId: 'worker-1' }), agent)).status).toBe(202);
    expect(log().events(Topic.orderReceipt)).toHaveLength(2);
  });

  test('and is another’s, has no receipt from here', async () => {
    await unseen();
    const other = await showingClaims('runtime', 'host-2');
    const answer = await answerOf(await post('/v1/receipts', receiptWith({ runtimeId: 'host-2' }), other));
    expect(answer).toMatchObject(refusal('orderId'));
    expect(log().events(Topic.orderReceipt)).toEqual([]);
  });

  test('and that the log has not either, was never given: the receipt is refused for good', async () => {
    expect(await answerOf(await post('/v1/receipts', [receiptWith({})], runtime))).toMatchObject({
      status: 409,
      body: { type: 'urn:vigil:problem:no_such_order', field: 'orderId', index: 0 },
    });
    expect(log().events(Topic.orderReceipt)).toEqual([]);
  });

  test('begins the chain of its receipt all the same', async () => {
    lag();
    await log().publish({ ...nudge, correlationId: 'c-1' });
    await post('/v1/receipts', receiptWith({}));
    expect(log().events(Topic.orderReceipt)).toMatchObject([{ correlationId: 'c-1' }]);
  });
});

test('a receipt that comes after its order has expired is taken, from its addressee only', async () => {
  await log().publish({ ...nudge, payload: { ...nudge.payload, ttlMs: 0 } });
  const other = await showingClaims('runtime', 'host-2');
  expect(await answerOf(await post('/v1/receipts', receiptWith({ runtimeId: 'host-2' }), other))).toMatchObject(
    refusal('orderId'),
  );
  expect((await post('/v1/receipts', receiptWith({}), runtime)).status).toBe(202);
});

test("an agent's receipt names the runtime of its order, and no other", async () => {
  await log().publish(nudge);
  expect(await answerOf(await post('/v1/receipts', receiptWith({ runtimeId: 'host-2' }), agent))).toMatchObject(
    refusal('runtimeId'),
  );
  expect((await post('/v1/receipts', receiptWith({ runtimeId: 'host-1' }), agent)).status).toBe(202);
});

test('an agent that no runtime runs answers in its own name', async () => {
  await log().publish({ ...nudge, payload: { ...nudge.payload, runtimeId: '' } });
  for (const [runtimeId, status] of [
    ['worker-1', 202],
    ['host-1', 403],
  ] as const)
    expect((await post('/v1/receipts', receiptWith({ runtimeId }), agent)).status).toBe(status);
});

test('the receipt of a spawn names the request of its order, or none', async () => {
  await log().publish(spawn);
  const report = (requestId: string | null) =>
    post('/v1/receipts', { type: 'SPAWN_RECEIPT', payload: { ...spawned, requestId } }, runtime);
  expect(await answerOf(await report('request-of-another'))).toMatchObject(refusal('requestId'));
  for (const requestId of [spawn.payload.requestId, null]) expect((await report(requestId)).status).toBe(202);
});

test.each([
  ['agent', { agentId: 'worker-2' }, 'agentId'],
  ['instance', { instanceId: 'worker-1.i9' }, 'instanceId'],
])('a receipt that names another %s than its order is refused', async (_what, more, field) => {
  await log().publish(nudge);
  expect(await answerOf(await post('/v1/receipts', receiptWith(more), runtime))).toMatchObject(refusal(field));
});

test('a receipt of another kind than its order is refused', async () => {
  await log().publish(nudge);
  const ending = receiptWith({ kind: 'terminate', outcome: 'done', confirmed: true });
  expect(await answerOf(await post('/v1/receipts', ending, runtime))).toMatchObject(refusal('kind'));
  const start = { type: 'SPAWN_RECEIPT', payload: { ...spawned, orderId: 'order-1', agentId: 'worker-1' } };
  expect(await answerOf(await post('/v1/receipts', start, runtime))).toMatchObject(refusal('type'));
  expect(log().events(Topic.orderReceipt)).toEqual([]);
});

describe('the name of an agent that a runtime was ordered to start', async () => {
  const other = await showingClaims('runtime', 'host-2');
  const agentId = spawn.payload.agentId;
  const squats = { ...least, agent_id: agentId, runtime_id: 'host-2' };

  test('is that runtime’s, also where another reported it before', async () => {
    expect((await post('/v1/heartbeats', squats, other)).status).toBe(202);
    await log().publish(spawn);
    expect(await answerOf(await post('/v1/heartbeats', squats, other))).toMatchObject(refusal('agent_id'));
    expect((await post('/v1/heartbeats', { ...own, agent_id: agentId }, runtime)).status).toBe(202);
  });

  test('has its end reported by that runtime only', async () => {
    await log().publish(spawn);
    const end = { type: 'AGENT_EXITED', payload: exited({ agentId, runtimeId: 'host-2' }) };
    expect((await post('/v1/receipts', end, other)).status).toBe(409);
    const ended = { type: 'AGENT_EXITED', payload: exited({ agentId }) };
    expect((await post('/v1/receipts', ended, runtime)).status).toBe(202);
  });

  test('has the use of its terminal reported by that runtime only', async () => {
    await log().publish(spawn);
    const { payload } = example(Topic.controlAgent, 'TERMINAL_USED', { agentId, taskId: 'T-1' });
    const used = (runtimeId: string) => ({ type: 'TERMINAL_USED', payload: { ...payload, runtimeId } });
    expect((await post('/v1/receipts', used('host-2'), other)).status).toBe(409);
    expect((await post('/v1/receipts', used('host-1'), runtime)).status).toBe(202);
    expect(log().events(Topic.controlAgent)).toMatchObject([
      { type: 'TERMINAL_USED', payload: { runtimeId: 'host-1' } },
    ]);
  });

  test('is free when that runtime reports that it has not started it', async () => {
    await log().publish(spawn);
    const failed = { type: 'SPAWN_RECEIPT', payload: { ...spawned, outcome: 'failed' } };
    expect((await post('/v1/receipts', failed, runtime)).status).toBe(202);
    expect((await post('/v1/heartbeats', squats, other)).status).toBe(202);
  });
});

test('a spawn’s receipt that names another task than its order is refused', async () => {
  await log().publish(spawn);
  const receipt = { type: 'SPAWN_RECEIPT', payload: { ...spawned, taskId: 'T-2' } };
  expect(await answerOf(await post('/v1/receipts', receipt, runtime))).toMatchObject(refusal('taskId'));
});

describe('an agent that runs elsewhere', () => {
  const presence = (type: 'AGENT_PRESENT' | 'AGENT_LOST', runtimeId: string | null) =>
    log().publish(example(Topic.fleetPresence, type, { agentId: 'worker-1', instanceId: 'i-1', runtimeId }));
  const postHeartbeat = () => post('/v1/heartbeats', own, runtime).then(answerOf);
  const end = (more: object) => post('/v1/receipts', { type: 'AGENT_EXITED', payload: exited(more) }, runtime);
  const foreign = { status: 409, body: { type: 'urn:vigil:problem:held_elsewhere', field: 'agentId' } };

  test.each([['host-2'], [null]])(
    'with %j, gets no heartbeats from this runtime, until Vigil has lost it',
    async (id) => {
      await presence('AGENT_PRESENT', id);
      expect(await postHeartbeat()).toMatchObject(refusal('agent_id'));
      expect(log().events(Topic.heartbeat)).toEqual([]);
      await presence('AGENT_LOST', id);
      expect(await postHeartbeat()).toMatchObject({ status: 202 });
    },
  );

  test("is this runtime's if it runs with it", async () => {
    await presence('AGENT_PRESENT', 'host-1');
    expect(await postHeartbeat()).toMatchObject({ status: 202 });
    expect((await end({})).status).toBe(202);
  });

  test('is not ended by this runtime, under any instance', async () => {
    await presence('AGENT_PRESENT', 'host-2');
    for (const instanceId of ['i-1', 'i-2']) expect(await answerOf(await end({ instanceId }))).toMatchObject(foreign);
    expect(log().events(Topic.controlAgent)).toEqual([]);
  });

  test('is not ended by this runtime for an order to spawn it, once', async () => {
    await log().publish({ ...spawn, payload: { ...spawn.payload, instanceId: null } });
    await log().publish(
      example(Topic.fleetPresence, 'AGENT_PRESENT', {
        agentId: spawn.payload.agentId,
        instanceId: 'i-9',
        runtimeId: 'host-2',
      }),
    );
    const cited = { agentId: spawn.payload.agentId, instanceId: 'i-9', orderId: 'order-2' };
    expect(await answerOf(await end(cited))).toMatchObject(foreign);
    expect(log().events(Topic.controlAgent)).toEqual([]);
  });

  test('and is lost, has its last instance ended by its own runtime only; another instance may have been here', async () => {
    await presence('AGENT_LOST', 'host-2');
    expect(await answerOf(await end({ instanceId: 'i-1' }))).toMatchObject(foreign);
    expect((await end({ instanceId: 'i-2' })).status).toBe(202);
  });

  test('is unknown to the evaluator: the first reporter is its runtime', async () => {
    const other = await showingClaims('runtime', 'host-2');
    expect((await post('/v1/heartbeats', { ...least, runtime_id: 'host-2' }, other)).status).toBe(202);
    expect(await postHeartbeat()).toMatchObject(refusal('agent_id'));
  });

  test('is nothing to the operator’s token', async () => {
    await presence('AGENT_PRESENT', 'host-2');
    expect((await post('/v1/heartbeats', own)).status).toBe(202);
    expect((await post('/v1/receipts', { type: 'AGENT_EXITED', payload: exited({}) })).status).toBe(202);
  });
});
