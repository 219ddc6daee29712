import type { World } from './agent.ts';
import { backOff, pause } from './clock.ts';
import { answer, receiptIn } from './hands.ts';
import { type AgentOrder, isOrder, type OrderEnvelope, type SpawnOrder } from './order.ts';
import type { Supervised } from './supervise.ts';

const pollSeconds = 25;

/** Where orders go: to the life that they name, or to whoever spawns. */
export type Addressees = {
  readonly lives: () => Iterable<Supervised>;
  readonly spawn: (order: SpawnOrder, expiresInMs: number) => void;
};

/** An order for a life that is not here any more is answered too, so that nobody waits for it. */
const toNobody = (world: World, order: AgentOrder): void => {
  const payload = receiptIn(world, order.payload.orderId);
  if (payload) world.outbox.put({ type: 'ORDER_RECEIPT', payload });
  else
    answer(world, order, 'superseded', {
      why: `no instance ${order.payload.instanceId} of ${order.payload.agentId} lives here`,
    });
};

/** Hands each order to whom it concerns; one of a kind unknown to this version is left unanswered and expires. */
export const dispatch = (world: World, { lives, spawn }: Addressees, envelopes: readonly OrderEnvelope[]): void => {
  for (const { expiresInMs, ...order } of envelopes) {
    if (!isOrder(order)) world.log('an order of an unknown kind is left alone', { order });
    else if (order.type === 'SPAWN_AGENT') spawn(order, expiresInMs);
    else {
      const life = [...lives()].find(({ spec }) => spec.agentId === order.payload.agentId);
      if (life) life.offer(order, expiresInMs);
      else toNobody(world, order);
    }
  }
};

/** Long polls until the signal fires. */
export const pollOrders = async (world: World, runtimeId: string, signal: AbortSignal): Promise<void> => {
  let failures = 0;
  while (!signal.aborted) {
    try {
      const began = world.clock.monotonic();
      world.onOrders(await world.gateway.orders(runtimeId, pollSeconds, signal));
      failures = 0;
      await pause(Math.max(0, 200 - (world.clock.monotonic() - began)), signal);
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      if (failures === 1) world.log('orders cannot be asked for', { runtimeId, error: String(error) });
      await pause(backOff(failures), signal);
    }
  }
};
