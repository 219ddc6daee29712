import type { Topic } from '@vigil/events';
import { instant, orderOf, type Statement } from '@vigil/read-model';
import type { PlacedEvent } from '@vigil/stream';
import type { Handlers } from './handlers.ts';

type Order = PlacedEvent<typeof Topic.agentOrder>;

function order(event: Order): readonly Statement[] {
  const { payload } = event;
  return [
    {
      kind: 'fact',
      table: 'orders',
      key: { order_id: payload.orderId },
      columns: {
        kind: event.type,
        agent_id: payload.agentId,
        instance_id: payload.instanceId,
        runtime_id: payload.runtimeId,
        case_id: payload.caseId,
        task_id: payload.taskId,
        number: payload.number,
        ttl_ms: payload.ttlMs,
        issued_at: instant(event.occurredAt),
        details: payload,
      },
    },
  ];
}

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
function receipt(event: Receipt): readonly Statement[] {
  const { payload } = event;
  const at = instant(payload.at) ?? instant(0);
  return [
    {
      kind: 'register',
      table: 'receipts',
      key: { order_id: payload.orderId, outcome: payload.outcome, at },
      group: 'receipt',
      order: orderOf(event),
      columns: {
        runtime_id: payload.runtimeId,
        why: payload.why,
        recorded_at: instant(event.occurredAt),
        details: payload,
      },
    },
  ];
}

export const orderReceipt: Handlers<typeof Topic.orderReceipt> = { ORDER_RECEIPT: receipt };
export const spawnReceipt: Handlers<typeof Topic.spawnReceipt> = { SPAWN_RECEIPT: receipt };

export const runtimePresence: Handlers<typeof Topic.runtimePresence> = {
  RUNTIME_ANNOUNCED: (event) => [
    {
      kind: 'register',
      table: 'runtimes',
      key: { runtime_id: event.payload.runtimeId },
      group: 'runtime',
      order: orderOf(event),
      columns: {
        host: event.payload.host,
        capacity: event.payload.capacity,
        agents: event.payload.agents,
        labels: event.payload.labels,
        announced_at: instant(event.occurredAt),
      },
    },
  ],
};
