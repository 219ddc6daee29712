import type { OrderReceiptPayload, SpawnReceiptPayload } from '@vigil/events';
import type { ReceiptDeps } from '../deps.ts';
import { type AgentOrder, type Order, type Report, receiptOf, type SpawnOrder, spawnReceiptOf } from './order.ts';

/** The receipt by which an order was answered before. */
export const receiptIn = (deps: ReceiptDeps, orderId: string): OrderReceiptPayload | undefined => {
  const report = deps.journal.reportOf(orderId);
  return report?.type === 'ORDER_RECEIPT' ? report.payload : undefined;
};

/** Why an order that was given before a halt is not begun. */
export const HALTED = 'the fleet is halted';

type Receipt = Extract<Report, { type: 'ORDER_RECEIPT' | 'SPAWN_RECEIPT' }>;

/** In the journal first: the order is done, even if the receipt has to be sent by the next supervisor. */
const record = (deps: ReceiptDeps, { type }: Order, report: Receipt): void => {
  const { orderId, outcome, why } = report.payload;
  deps.journal.write({ kind: 'done', orderId, report });
  deps.outbox.put(report);
  deps.logger('an order is answered', { type, orderId, outcome, why });
};

export const answer = (
  deps: ReceiptDeps,
  order: AgentOrder,
  outcome: OrderReceiptPayload['outcome'],
  more: Partial<OrderReceiptPayload> = {},
): void => record(deps, order, { type: 'ORDER_RECEIPT', payload: receiptOf(order, deps.clock.now(), outcome, more) });

export const answerSpawn = (
  deps: ReceiptDeps,
  order: SpawnOrder,
  outcome: SpawnReceiptPayload['outcome'],
  more: Partial<SpawnReceiptPayload>,
): void =>
  record(deps, order, { type: 'SPAWN_RECEIPT', payload: spawnReceiptOf(order, deps.clock.now(), outcome, more) });
