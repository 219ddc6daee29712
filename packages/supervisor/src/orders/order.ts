import type { ContentOf, OrderKind, OrderReceiptPayload, PayloadOf, SpawnReceiptPayload, Topic } from '@vigil/events';
import { noEnd } from '@vigil/sdk/receipts';

/** The events of a topic as requests carry them. */
export type WithoutTopic<C> = C extends { readonly type: string; readonly payload: unknown }
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
/**
 * As the gateway offers it. `expiresInMs` counts from the broker's stamp. `isRecalled`: it must not begin, or a resume must not send its message.
 * `policy`: the name of the policy that led to it; null: unknown.
 */
export type OrderEnvelope = Order & {
  readonly expiresInMs: number;
  readonly isRecalled: boolean;
  readonly policy: string | null;
};
/** What an older gateway offers has no policy. */
export type OfferedOrder = Order & { readonly expiresInMs: number; readonly policy?: string | null };
/** `expiresAt` is on this machine's monotonic clock. */
export type Received<O extends Order = Order> = { readonly order: O; readonly expiresAt: number };

/** What a runtime reports; the gateway writes it to the topic of its type. */
export type Report =
  | { readonly type: 'ORDER_RECEIPT'; readonly payload: OrderReceiptPayload }
  | { readonly type: 'SPAWN_RECEIPT'; readonly payload: SpawnReceiptPayload }
  | { readonly type: 'AGENT_EXITED'; readonly payload: PayloadOf<typeof Topic.controlAgent, 'AGENT_EXITED'> }
  | { readonly type: 'TERMINAL_USED'; readonly payload: PayloadOf<typeof Topic.controlAgent, 'TERMINAL_USED'> }
  | {
      readonly type: 'RUNTIME_ANNOUNCED';
      readonly payload: PayloadOf<typeof Topic.runtimePresence, 'RUNTIME_ANNOUNCED'>;
    };

type OrderRules = {
  readonly kind: OrderKind;
  /** when it may begin; `when_reachable`: it sends a text */
  readonly begins: 'at_any_time' | 'between_calls' | 'when_reachable';
  /** whether it takes the agent's silence for a hang; `when_expired`: only where its text could not be received in time */
  readonly supposesHang: 'never' | 'always' | 'when_expired';
};

export const orderRules: Readonly<Record<Order['type'], OrderRules>> = {
  NUDGE_AGENT: { kind: 'nudge', begins: 'when_reachable', supposesHang: 'when_expired' },
  PROBE_AGENT: { kind: 'probe', begins: 'when_reachable', supposesHang: 'when_expired' },
  HANDOFF_AGENT: { kind: 'handoff', begins: 'when_reachable', supposesHang: 'never' },
  PAUSE_AGENT: { kind: 'pause', begins: 'between_calls', supposesHang: 'never' },
  RESUME_AGENT: { kind: 'resume', begins: 'at_any_time', supposesHang: 'never' },
  INTERRUPT_AGENT: { kind: 'interrupt', begins: 'at_any_time', supposesHang: 'always' },
  RESUME_SESSION: { kind: 'resume_session', begins: 'at_any_time', supposesHang: 'always' },
  RESET_BREAKER: { kind: 'reset_breaker', begins: 'at_any_time', supposesHang: 'never' },
  TERMINATE_AGENT: { kind: 'terminate', begins: 'at_any_time', supposesHang: 'never' },
  SPAWN_AGENT: { kind: 'spawn', begins: 'at_any_time', supposesHang: 'never' },
};

export const isOrder = (envelope: { readonly type: string }): envelope is Order =>
  Object.hasOwn(orderRules, envelope.type);

/** An order's receipt with nothing to add; `at` in epoch milliseconds. */
export const receiptOf = (
  order: AgentOrder,
  at: number,
  outcome: OrderReceiptPayload['outcome'],
  more: Partial<OrderReceiptPayload> = {},
): OrderReceiptPayload => ({
  orderId: order.payload.orderId,
  kind: orderRules[order.type].kind,
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

type Exited = Extract<Report, { type: 'AGENT_EXITED' }>['payload'];

/** The report of an end; what `end` does not name is unknown. */
export const exitReport = (
  who: Pick<Exited, 'agentId' | 'instanceId' | 'taskId' | 'runtimeId'> & Partial<Pick<Exited, 'policy' | 'labels'>>,
  end: Pick<Exited, 'reason' | 'at' | 'details'> & Partial<Exited>,
): Report => ({
  type: 'AGENT_EXITED',
  payload: {
    agentId: who.agentId,
    instanceId: who.instanceId,
    taskId: who.taskId,
    runtimeId: who.runtimeId,
    code: null,
    signal: null,
    orderId: null,
    checkpoint: null,
    lastOutput: [],
    forensics: null,
    policy: who.policy ?? null,
    labels: who.labels ?? {},
    ...end,
  },
});

/** A text for the agent, and the order that it is of. */
export type Text = { readonly orderId: string; readonly message: string };

/** The text that an order sends to the agent; empty where the order does something else. */
export const textOf = ({ type, payload }: AgentOrder): readonly Text[] =>
  orderRules[type].begins === 'when_reachable' && 'message' in payload && payload.message !== null
    ? [{ orderId: payload.orderId, message: payload.message }]
    : [];
