import { Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { describe, expect, test } from 'vitest';
import { createPendingOrders, LONGEST_TTL_MS, MOST_KNOWN, POLLING_MS, REPEAT_MS } from './pending-orders.ts';

const sent = EXAMPLE_TIME;
const nudge = example(Topic.agentOrder, 'NUDGE_AGENT', { orderId: 'o-1', ttlMs: 60_000 });
const spawn = example(Topic.agentOrder, 'SPAWN_AGENT', { orderId: 'o-2', ttlMs: 60_000, agentId: 'worker-1-r2' });
const idsOf = (orders: readonly { payload: { orderId: string } }[]) => orders.map(({ payload }) => payload.orderId);

const ordersWith = (...orders: (typeof nudge | typeof spawn)[]) => {
  const pendingOrders = createPendingOrders();
  for (const order of orders) pendingOrders.observeOrder(order, sent);
  return pendingOrders;
};

describe('a polling runtime', () => {
  test('is offered its orders in their order, and how long each is still valid', () => {
    const offered = ordersWith(nudge, spawn).offerToRuntime('host-1', sent + 1_000);
    expect(idsOf(offered)).toEqual(['o-1', 'o-2']);
    expect(offered[0]).toEqual({ type: 'NUDGE_AGENT', payload: nudge.payload, expiresInMs: 59_000, policy: 'vigil' });
  });

  test('is not offered those of another', () => {
    expect(ordersWith(nudge).offerToRuntime('host-2', sent)).toEqual([]);
  });

  test('is offered an order again after a while, not at once', () => {
    const pendingOrders = ordersWith(nudge);
    expect(idsOf(pendingOrders.offerToRuntime('host-1', sent))).toEqual(['o-1']);
    expect(pendingOrders.repeatsAt('host-1', sent)).toBe(sent + REPEAT_MS);
    expect(pendingOrders.offerToRuntime('host-1', sent + REPEAT_MS - 1)).toEqual([]);
    expect(idsOf(pendingOrders.offerToRuntime('host-1', sent + REPEAT_MS))).toEqual(['o-1']);
  });

  test('has nothing to wait for without a pending order', () => {
    expect(createPendingOrders().repeatsAt('host-1', sent)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('an order is over', () => {
  test('a spawn when its time has passed since it was decided, however late it was written; any other since it was written', () => {
    const late = sent + 50_000;
    const pendingOrders = createPendingOrders();
    for (const order of [nudge, spawn]) pendingOrders.observeOrder({ ...order, occurredAt: sent }, late);
    expect(pendingOrders.offerToRuntime('host-1', late)).toMatchObject([
      { type: 'NUDGE_AGENT', expiresInMs: 60_000 },
      { type: 'SPAWN_AGENT', expiresInMs: 10_000 },
    ]);
    const tooLate = createPendingOrders();
    tooLate.observeOrder({ ...spawn, occurredAt: sent }, sent + 60_000);
    expect(tooLate.offerToRuntime('host-1', sent + 60_000)).toEqual([]);
  });

  test('a spawn that is dated later than it was written is over when its time has passed since then', () => {
    const pendingOrders = createPendingOrders();
    pendingOrders.observeOrder({ ...spawn, occurredAt: sent + 5_000 }, sent);
    expect(pendingOrders.offerToRuntime('host-1', sent)).toMatchObject([{ expiresInMs: 60_000 }]);
  });

  test('when its receipt is seen, also before the order itself', () => {
    const pendingOrders = ordersWith(nudge);
    pendingOrders.observeReceipt('o-1', sent);
    expect(pendingOrders.offerToRuntime('host-1', sent)).toEqual([]);
    pendingOrders.observeReceipt('o-2', sent);
    pendingOrders.observeOrder(spawn, sent);
    expect(pendingOrders.offerToRuntime('host-1', sent)).toEqual([]);
  });

  test('when its time to live from the broker stamp has passed: one millisecond before, it is not', () => {
    const pendingOrders = ordersWith(nudge);
    expect(pendingOrders.offerToRuntime('host-1', sent + 59_999)).toMatchObject([{ expiresInMs: 1 }]);
    expect(pendingOrders.offerToRuntime('host-1', sent + 60_000 + REPEAT_MS)).toEqual([]);
  });

  test('after an hour, even if its time to live is longer: nothing reads further back', () => {
    const eternal = { ...nudge, payload: { ...nudge.payload, ttlMs: Number.MAX_SAFE_INTEGER } };
    expect(ordersWith(eternal).offerToRuntime('host-1', sent + LONGEST_TTL_MS - 1)).toHaveLength(1);
    expect(ordersWith(eternal).offerToRuntime('host-1', sent + LONGEST_TTL_MS)).toEqual([]);
  });

  test('and stays over when it is read again', () => {
    const pendingOrders = ordersWith(nudge);
    pendingOrders.observeReceipt('o-1', sent);
    pendingOrders.observeOrder(nudge, sent);
    expect(pendingOrders.offerToRuntime('host-1', sent)).toEqual([]);
  });
});

describe('while the fleet is halted', () => {
  const resume = example(Topic.agentOrder, 'RESUME_AGENT', { orderId: 'o-3', ttlMs: 60_000, message: 'go on' });
  const reset = example(Topic.agentOrder, 'RESET_BREAKER', { orderId: 'o-4', ttlMs: 60_000 });
  const halted = () => {
    const pendingOrders = ordersWith(nudge, spawn);
    pendingOrders.observeOrder(resume, sent);
    pendingOrders.observeOrder(reset, sent);
    pendingOrders.setHalted(true);
    return pendingOrders;
  };

  test('a runtime is offered only what takes back: a resume without its words, and a reset; the rest is recalled', () => {
    const pendingOrders = halted();
    const offered = pendingOrders.offerToRuntime('host-1', sent);
    expect(idsOf(offered)).toEqual(['o-3', 'o-4']);
    expect(offered[0]?.payload).toMatchObject({ message: null });
    expect(idsOf(pendingOrders.recalledFrom('host-1', sent))).toEqual(['o-1', 'o-2', 'o-3']);
  });

  test('what a runtime has been offered before is recalled at once, and again after a while until a receipt is seen', () => {
    const pendingOrders = ordersWith(nudge);
    pendingOrders.offerToRuntime('host-1', sent);
    expect(pendingOrders.recalledFrom('host-1', sent)).toEqual([]);
    pendingOrders.setHalted(true);
    expect(idsOf(pendingOrders.recalledFrom('host-1', sent))).toEqual(['o-1']);
    expect(pendingOrders.repeatsAt('host-1', sent)).toBe(sent + REPEAT_MS);
    expect(pendingOrders.recalledFrom('host-1', sent + REPEAT_MS - 1)).toEqual([]);
    expect(idsOf(pendingOrders.recalledFrom('host-1', sent + REPEAT_MS))).toEqual(['o-1']);
    pendingOrders.observeReceipt('o-1', sent);
    expect(pendingOrders.recalledFrom('host-1', sent + 2 * REPEAT_MS)).toEqual([]);
  });

  test('an agent is offered only a reset, and its other orders when the halt is over', () => {
    const pendingOrders = halted();
    expect(idsOf(pendingOrders.offerToAgent('worker-1', 'worker-1.i1', sent))).toEqual(['o-4']);
    pendingOrders.setHalted(false);
    expect(idsOf(pendingOrders.offerToAgent('worker-1', 'worker-1.i1', sent))).toEqual(['o-1', 'o-4']);
  });

  test('an order that was not recalled in time is offered again after the halt, until it expires', () => {
    const pendingOrders = halted();
    pendingOrders.setHalted(false);
    expect(idsOf(pendingOrders.offerToRuntime('host-1', sent + 1))).toEqual(['o-1', 'o-2', 'o-3', 'o-4']);
    expect(pendingOrders.recalledFrom('host-1', sent + 1)).toEqual([]);
  });
});

describe('an agent that asks by heartbeat', () => {
  test('is offered the orders for this instance of it', () => {
    const pendingOrders = ordersWith(nudge, spawn);
    expect(idsOf(pendingOrders.offerToAgent('worker-1', 'worker-1.i1', sent))).toEqual(['o-1']);
    expect(pendingOrders.offerToAgent('worker-1', 'worker-1.i2', sent)).toEqual([]);
    expect(pendingOrders.offerToAgent('worker-1', null, sent)).toEqual([]);
    expect(pendingOrders.offerToAgent('worker-2', 'worker-1.i1', sent)).toEqual([]);
  });

  test('is offered an order that names no instance, whichever instance runs', () => {
    const pendingOrders = ordersWith({ ...nudge, payload: { ...nudge.payload, instanceId: null } });
    expect(idsOf(pendingOrders.offerToAgent('worker-1', null, sent))).toEqual(['o-1']);
  });

  test('is offered none while its runtime polls, and all of them again when it no longer does', () => {
    const pendingOrders = ordersWith(nudge);
    pendingOrders.observePoll('host-1', sent - 30_000);
    expect(pendingOrders.offerToAgent('worker-1', 'worker-1.i1', sent - 30_000 + POLLING_MS - 1)).toEqual([]);
    expect(idsOf(pendingOrders.offerToAgent('worker-1', 'worker-1.i1', sent - 30_000 + POLLING_MS))).toEqual(['o-1']);
  });

  test('is offered only what it carries out itself: never the end, the pause or the start of a process', () => {
    const types = [
      ...(['NUDGE_AGENT', 'PROBE_AGENT', 'HANDOFF_AGENT', 'RESET_BREAKER'] as const),
      ...(['TERMINATE_AGENT', 'PAUSE_AGENT', 'RESUME_AGENT', 'INTERRUPT_AGENT', 'RESUME_SESSION'] as const),
      'SPAWN_AGENT' as const,
    ];
    const pendingOrders = createPendingOrders();
    for (const type of types)
      pendingOrders.observeOrder(example(Topic.agentOrder, type, { orderId: type, ttlMs: 60_000 }), sent);
    expect(idsOf(pendingOrders.offerToAgent('worker-1', 'worker-1.i1', sent))).toEqual(types.slice(0, 4));
    expect(pendingOrders.offerToAgent(spawn.payload.agentId, spawn.payload.instanceId, sent)).toEqual([]);
  });
});

describe('the name of the agent of a spawn', () => {
  const name = spawn.payload.agentId;

  test('is reserved for the ordered runtime for an hour', () => {
    const pendingOrders = ordersWith(spawn);
    expect(pendingOrders.reservedFor(name, sent + LONGEST_TTL_MS - 1)).toBe('host-1');
    expect(pendingOrders.reservedFor(name, sent + LONGEST_TTL_MS)).toBeNull();
    expect(pendingOrders.reservedFor('worker-1', sent)).toBeNull();
  });

  test('is reserved by the newest order, in any order of reading', () => {
    const again = { ...spawn, payload: { ...spawn.payload, orderId: 'o-3', runtimeId: 'host-2' } };
    for (const orders of [
      [spawn, again],
      [again, spawn],
    ] as const) {
      const pendingOrders = createPendingOrders();
      for (const order of orders) pendingOrders.observeOrder(order, order === again ? sent + 1 : sent);
      expect(pendingOrders.reservedFor(name, sent + 1)).toBe('host-2');
    }
  });

  test('is free when the runtime has not started it, in any order of reading; not while it may have', () => {
    const receipt = (outcome: 'failed' | 'uncertain') =>
      example(Topic.spawnReceipt, 'SPAWN_RECEIPT', { orderId: 'o-2', agentId: name, outcome }).payload;
    const pendingOrders = ordersWith(spawn);
    pendingOrders.observeSpawnReceipt(receipt('uncertain'), sent);
    expect(pendingOrders.reservedFor(name, sent)).toBe('host-1');
    pendingOrders.observeSpawnReceipt(receipt('failed'), sent);
    expect(pendingOrders.reservedFor(name, sent)).toBeNull();
    pendingOrders.observeOrder(spawn, sent);
    expect(pendingOrders.reservedFor(name, sent)).toBeNull();
  });
});

describe('whose an order is', () => {
  test('is known as long as orders are kept: also when its time is over, or its receipt seen', () => {
    const pendingOrders = ordersWith(nudge);
    pendingOrders.observeReceipt('o-1', sent);
    pendingOrders.offerToRuntime('host-1', sent + LONGEST_TTL_MS + REPEAT_MS);
    expect(pendingOrders.find('o-1')).toEqual({
      orderId: 'o-1',
      runtimeId: 'host-1',
      agentId: nudge.payload.agentId,
      instanceId: nudge.payload.instanceId,
      taskId: nudge.payload.taskId,
      kind: 'nudge',
      requestId: null,
      correlationId: 'correlation-1',
    });
    expect(pendingOrders.find('o-9')).toBeNull();
  });

  test('is remembered of the newest orders, so that memory has a bound', () => {
    const pendingOrders = ordersWith(nudge);
    for (let i = 0; i < MOST_KNOWN; i += 1)
      pendingOrders.observeOrder({ ...nudge, payload: { ...nudge.payload, orderId: `more-${i}`, ttlMs: 0 } }, sent);
    expect(pendingOrders.find('o-1')).toBeNull();
    expect(pendingOrders.find(`more-${MOST_KNOWN - 1}`)).not.toBeNull();
  });
});
