import type { OrderReceiptPayload } from '@vigil/events';
import type { ReceiptDeps } from '../deps.ts';
import { type AgentOrder, receiptOf } from './order.ts';

/** The receipt by which an order was answered before. */
export const receiptIn = (deps: ReceiptDeps, orderId: string): OrderReceiptPayload | undefined => {
  const report = deps.journal.reportOf(orderId);
  return report?.type === 'ORDER_RECEIPT' ? report.payload : undefined;
};

/** Why an order that was given before a halt is not begun. */
export const HALTED = 'the fleet is halted';

/** In the journal first: the order is done, even if the receipt has to be sent by the next supervisor. */
export const answer = (
  deps: ReceiptDeps,
  order: AgentOrder,
  outcome: OrderReceiptPayload['outcome'],
  more: Partial<OrderReceiptPayload> = {},
): void => {
  const payload = receiptOf(order, deps.clock.now(), outcome, more);
  const report = { type: 'ORDER_RECEIPT', payload } as const;
  deps.journal.write({ kind: 'done', orderId: payload.orderId, report });
  deps.outbox.put(report);
  deps.log('an order is answered', { type: order.type, orderId: payload.orderId, outcome, why: payload.why });
};
