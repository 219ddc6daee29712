import { type Envelope, Orders } from '../orders.ts';
import { call, type Gateway } from './http.ts';
import type { Answer, TransportDeps } from './transport.ts';

type Offer = Partial<Answer> & {
  readonly orders?: readonly Envelope[];
  /** how long the request waited at the gateway */
  readonly waitedMs?: number;
};

/** A gateway that accepts no receipts delays no heartbeat. */
const RECEIPTS_MS = 10_000;

/** What the gateway has for one agent. */
export type OrderInbox = {
  /** Makes the request, delivers the orders in the answer, and reports their receipts. */
  readonly collect: (request: () => Promise<unknown>) => Promise<Answer>;
  readonly policy: (name: string, signal: AbortSignal) => Promise<unknown>;
};

export const openInbox = (gateway: Gateway, deps: TransportDeps): OrderInbox => {
  const orders = new Orders(deps);

  const report = async (receipts: readonly { readonly orderId: string }[]): Promise<void> => {
    if (receipts.length === 0) return;
    const records = receipts.map((payload) => ({ type: 'ORDER_RECEIPT', payload }));
    // Unaccepted receipts are sent again: the gateway offers the orders until then.
    await call(gateway, '/v1/receipts', AbortSignal.timeout(RECEIPTS_MS), records).catch((error: Error) =>
      deps.onProblem(`receipts wait for the gateway: ${error.message}`),
    );
  };

  return {
    collect: async (request) => {
      const began = deps.system.monotonic();
      const answer = ((await request()) ?? {}) as Offer;
      const { orders: offered = [], waitedMs, intervalMs = null, policy = null, warnings = [] } = answer;
      const lateMs = waitedMs === undefined ? 0 : Math.max(0, deps.system.monotonic() - began - waitedMs);
      void report(orders.handle(offered.map((one) => ({ ...one, expiresInMs: one.expiresInMs - lateMs }))));
      return { intervalMs, policy, warnings };
    },
    policy: async (name, signal) => {
      const served = await call(gateway, `/v1/policies/${encodeURIComponent(name)}`, signal);
      return (served as { readonly document?: unknown }).document ?? null;
    },
  };
};
