import type { ContentOf, OrderKind, OrderReceiptPayload, PayloadOf, SpawnReceiptPayload, Topic } from '@vigil/events';
import { noEnd } from '@vigil/sdk/receipts';

type WithoutTopic<C> = C extends { readonly type: string; readonly payload: unknown }
  ? { readonly type: C['type']; readonly payload: C['payload'] }
  : never;

/** What a runtime is ordered to do. */
export type Order = WithoutTopic<ContentOf<typeof Topic.agentOrder>>;
export type SpawnOrder = Extract<Order, { readonly type: 'SPAWN_AGENT' }>;
/** Every order that concerns an agent that already runs. */
export type AgentOrder = Exclude<Order, SpawnOrder>;
export type Resume = Extract<AgentOrder, { type: 'RESUME_AGENT' }>;
export type Terminate = Extract<AgentOrder, { type: 'TERMINATE_AGENT' }>;
export type InterruptAgent = Extract<AgentOrder, { type: 'INTERRUPT_AGENT' }>;
export type ResumeSession = Extract<AgentOrder, { type: 'RESUME_SESSION' }>;
/** What a supervisor carries through that its predecessor had begun: each is safe to repeat. */
export type RepeatableOrder = Terminate | ResumeSession;
/** What became of an order, for its receipt. */
export type Outcome = readonly [OrderReceiptPayload['outcome'], Partial<OrderReceiptPayload>?];
/** As the gateway offers it. `expiresInMs` counts from the broker's stamp. `isRecalled`: it must not begin, or a resume must not send its message. */
export type OrderEnvelope = Order & { readonly expiresInMs: number; readonly isRecalled: boolean };
/** `expiresAt` is on this machine's monotonic clock. */
export type Received<O extends Order = Order> = { readonly order: O; readonly expiresAt: number };

/** What a runtime reports; the gateway writes it to the topic of its type. */
export type Report =
  | { readonly type: 'ORDER_RECEIPT'; readonly payload: OrderReceiptPayload }
  | { readonly type: 'SPAWN_RECEIPT'; readonly payload: SpawnReceiptPayload }
  | { readonly type: 'AGENT_EXITED'; readonly payload: PayloadOf<typeof Topic.controlAgent, 'AGENT_EXITED'> }
  | {
      readonly type: 'RUNTIME_ANNOUNCED';
      readonly payload: PayloadOf<typeof Topic.runtimePresence, 'RUNTIME_ANNOUNCED'>;
    };

const kinds: Record<Order['type'], OrderKind> = {
  NUDGE_AGENT: 'nudge',
  PROBE_AGENT: 'probe',
  HANDOFF_AGENT: 'handoff',
  PAUSE_AGENT: 'pause',
  RESUME_AGENT: 'resume',
  INTERRUPT_AGENT: 'interrupt',
  RESUME_SESSION: 'resume_session',
  RESET_BREAKER: 'reset_breaker',
  TERMINATE_AGENT: 'terminate',
  SPAWN_AGENT: 'spawn',
};

export const isOrder = (envelope: { readonly type: string }): envelope is Order => Object.hasOwn(kinds, envelope.type);
export const kindOf = (order: Order): OrderKind => kinds[order.type];

/** An order's receipt with nothing to add; `at` in epoch milliseconds. */
export const receiptOf = (
  order: AgentOrder,
  at: number,
  outcome: OrderReceiptPayload['outcome'],
  more: Partial<OrderReceiptPayload> = {},
): OrderReceiptPayload => ({
  orderId: order.payload.orderId,
  kind: kindOf(order),
  agentId: order.payload.agentId,
  instanceId: order.payload.instanceId,
  runtimeId: order.payload.runtimeId,
  outcome,
  why: null,
  at,
  ...noEnd,
  ...more,
});

/** A spawn order's receipt. */
export const spawnReceiptOf = (
  { payload }: SpawnOrder,
  at: number,
  outcome: SpawnReceiptPayload['outcome'],
  more: Partial<SpawnReceiptPayload> = {},
): SpawnReceiptPayload => ({
  orderId: payload.orderId,
  requestId: payload.requestId,
  taskId: payload.taskId ?? '',
  attempt: payload.attempt,
  runtimeId: payload.runtimeId,
  outcome,
  why: null,
  at,
  agentId: payload.agentId,
  instanceId: null,
  checkpointId: null,
  skipped: [],
  ...more,
});

/** A text for the agent, and the order that it is of. */
export type Text = { readonly orderId: string; readonly message: string };

/** The text that an order sends to the agent; empty where the order does something else. */
export const textOf = (order: AgentOrder): readonly Text[] => {
  switch (order.type) {
    case 'NUDGE_AGENT':
    case 'PROBE_AGENT':
    case 'HANDOFF_AGENT':
      return [{ orderId: order.payload.orderId, message: order.payload.message }];
    case 'PAUSE_AGENT':
    case 'RESUME_AGENT':
    case 'INTERRUPT_AGENT':
    case 'RESUME_SESSION':
    case 'RESET_BREAKER':
    case 'TERMINATE_AGENT':
      return [];
  }
};
