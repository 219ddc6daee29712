import type { Topic } from '@vigil/events';
import { fact, instant, register, type Statement } from '@vigil/read-model';
import type { PlacedEvent } from '@vigil/stream';
import type { Handlers } from './handlers.ts';

const order = ({ type, payload, occurredAt }: PlacedEvent<typeof Topic.agentOrder>): readonly Statement[] => [
  fact('orders', { ...payload, kind: type, issuedAt: occurredAt, details: payload }),
];

export const agentOrder: Handlers<typeof Topic.agentOrder> = {
  NUDGE_AGENT: order,
  PROBE_AGENT: order,
  HANDOFF_AGENT: order,
  PAUSE_AGENT: order,
  RESUME_AGENT: order,
  INTERRUPT_AGENT: order,
  RESUME_SESSION: order,
  RESET_BREAKER: order,
  TERMINATE_AGENT: order,
  SPAWN_AGENT: order,
};

type Receipt = PlacedEvent<typeof Topic.orderReceipt | typeof Topic.spawnReceipt>;

/** A runtime may send a receipt again until it is confirmed: the same outcome at the same moment is the same receipt. */
const receipt = (event: Receipt): readonly Statement[] => {
  const { payload } = event;
  const at = instant(payload.at) === null ? 0 : payload.at;
  return [register(event, 'receipts', 'receipt', { ...payload, at, recordedAt: event.occurredAt, details: payload })];
};

export const orderReceipt: Handlers<typeof Topic.orderReceipt> = { ORDER_RECEIPT: receipt };
export const spawnReceipt: Handlers<typeof Topic.spawnReceipt> = { SPAWN_RECEIPT: receipt };

export const runtimePresence: Handlers<typeof Topic.runtimePresence> = {
  RUNTIME_ANNOUNCED: (event) => [
    register(event, 'runtimes', 'runtime', { ...event.payload, announcedAt: event.occurredAt }),
  ],
};
