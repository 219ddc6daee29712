import { setTimeout as sleep } from 'node:timers/promises';
import { type Draft, type EventOf, Topic } from '@vigil/events';
import { writer } from '@vigil/stream';
import type { TestSystem } from '../system.ts';

export type Order = EventOf<typeof Topic.agentOrder>;

/** How a runtime receives orders and reports. */
export type Channel = {
  readonly report: (draft: Draft) => Promise<unknown>;
  /** receives each order once for each record, or exactly once if it is offered repeatedly */
  readonly receive: (obey: (order: Order) => void, signal: AbortSignal) => Promise<unknown>;
};

/** Directly to and from Kafka, where an order that is written twice is received twice. */
export const kafkaChannel = ({ log }: TestSystem, runtimeId: string): Channel => {
  const write = writer(log, Date.now);
  return {
    report: (draft) => write.write([draft]),
    receive: (obey, signal) =>
      log.follow(
        [Topic.agentOrder],
        'end',
        ({ key, value }) => {
          if (value === null || key === null || key.startsWith('@')) return;
          const { type, payload } = log.codec.decode(Topic.agentOrder, value);
          if ((payload as Order['payload']).runtimeId === runtimeId) obey({ type, payload } as Order);
        },
        signal,
      ),
  };
};

const POLL_S = 25;
const PATIENCE_MS = 15_000;

/** As runtimes do: long polls for orders, receipts by HTTP. */
export const gatewayChannel = ({ system }: TestSystem, runtimeId: string): Channel => {
  const { VIGIL_GATEWAY_URL: url, VIGIL_GATEWAY_TOKEN: token } = system.env;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const request = async (path: string, init: RequestInit): Promise<unknown> => {
    const answer = await fetch(new URL(path, url), { ...init, headers });
    if (!answer.ok) throw new Error(`the gateway answers ${answer.status}: ${await answer.text()}`);
    return answer.json();
  };
  const poll = async (signal: AbortSignal): Promise<readonly Order[]> => {
    const patience = AbortSignal.any([signal, AbortSignal.timeout(POLL_S * 1000 + PATIENCE_MS)]);
    const answer = await request(`/v1/runtimes/${runtimeId}/orders?wait=${POLL_S}`, { signal: patience });
    return (answer as { orders: Order[] }).orders;
  };
  const listen = async (obey: (order: Order) => void, signal: AbortSignal): Promise<void> => {
    const received = new Set<string>();
    while (!signal.aborted) {
      const orders = await poll(signal).catch(() => []);
      for (const order of orders.filter(({ payload }) => !received.has(payload.orderId))) {
        received.add(order.payload.orderId);
        obey(order);
      }
      await sleep(200);
    }
  };
  return {
    report: ({ type, payload }) =>
      request('/v1/receipts', {
        method: 'POST',
        body: JSON.stringify({ type, payload }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      }),
    receive: async (obey, signal) => void listen(obey, signal),
  };
};
