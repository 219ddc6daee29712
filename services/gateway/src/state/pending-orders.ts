import type { EventOf, OrderKind, SpawnReceiptPayload, Topic } from '@vigil/events';

type Order = EventOf<typeof Topic.agentOrder>;

/**
 * An order in the form that runtimes receive; the rest of its time to live counts on the receiver's monotonic clock.
 */
export type OrderEnvelope = {
  readonly type: Order['type'];
  readonly payload: Order['payload'];
  readonly expiresInMs: number;
  /** the name of the policy that led to it; null: unknown */
  readonly policy: string | null;
};

/** The addressee of an order, and its context. `kind`: that of its receipt. */
export type Addressed = Pick<Order['payload'], 'orderId' | 'runtimeId' | 'agentId' | 'instanceId' | 'taskId'> & {
  readonly kind: OrderKind;
  /** of a spawn; null: another order */
  readonly requestId: string | null;
  readonly correlationId: string;
};

const KIND_OF: Readonly<Record<Order['type'], OrderKind>> = {
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

/** What an agent carries out itself. Only a runtime ends, pauses and starts agents, and only it reports that. */
export const AGENT_KINDS: ReadonlySet<OrderKind> = new Set<OrderKind>(['nudge', 'probe', 'handoff', 'reset_breaker']);

/** The longest time to live of an order: what is read again after a restart. */
export const LONGEST_TTL_MS = 60 * 60_000;

/** A runtime at work on an order polls on; it is asked again this much later, in case it has died in between. */
export const REPEAT_MS = 5_000;

/** A runtime is there for its agents this long after a poll. */
export const POLLING_MS = 60_000;

/** The addressees of this number of orders are remembered: more than a week's, which is what the log keeps. */
export const MOST_KNOWN = 100_000;

/** How often expired orders are removed, however many reports arrive. */
const FORGET_MS = 1_000;

type Offer = { readonly order: Order; readonly expiresAt: number; offeredAt: number; recalledAt: number };

/** The name of a spawn's agent. */
type Reserved = { readonly orderId: string; readonly runtimeId: string; readonly stampedAt: number };

const mayHaveStarted: Readonly<Record<SpawnReceiptPayload['outcome'], boolean>> = {
  spawned: true,
  uncertain: true,
  UNKNOWN: true,
  checkpoint_invalid: false,
  not_needed: false,
  superseded: false,
  expired: false,
  halted: false,
  failed: false,
};

const NOT_YET = Number.NEGATIVE_INFINITY;

/** These need no ruling: they take back what another order has done. A halt stops only the words of a resume. */
const takesBack: ReadonlySet<Order['type']> = new Set(['RESUME_AGENT', 'RESET_BREAKER']);

const wordless = (order: Order): Order =>
  order.type === 'RESUME_AGENT' ? { ...order, payload: { ...order.payload, message: null } } : order;

const addressed = ({ type, payload, correlationId }: Order): Addressed => {
  const { orderId, runtimeId, agentId, instanceId, taskId } = payload;
  const requestId = 'requestId' in payload ? payload.requestId : null;
  return { orderId, runtimeId, agentId, instanceId, taskId, requestId, correlationId, kind: KIND_OF[type] };
};

/**
 * A spawn's time counts from the moment of its decision, where that is earlier. Recovery waits for the first heartbeat from then on.
 * A service that catches up may write a spawn late. Counted from then, it would be carried out beside the next attempt.
 */
const countsFrom = ({ type, occurredAt }: Order, stampedAt: number): number =>
  type === 'SPAWN_AGENT' ? Math.min(stampedAt, occurredAt) : stampedAt;

const envelope = ({ order, expiresAt }: Offer, now: number): OrderEnvelope => ({
  type: order.type,
  payload: order.payload,
  expiresInMs: expiresAt - now,
  policy: order.policy?.name ?? null,
});

export type PendingOrders = ReturnType<typeof createPendingOrders>;

/**
 * Orders without a receipt. Every instance of the gateway keeps one, from the same topics; times are epoch milliseconds.
 * An order is offered until its receipt is seen or its time is over; two instances may offer one twice, which the runtime's journal answers.
 */
export const createPendingOrders = () => {
  const offers = new Map<string, Offer>();
  const known = new Map<string, Addressed>();
  const receipted = new Map<string, number>();
  const polledAt = new Map<string, number>();
  const reserved = new Map<string, Reserved>();
  const unstarted = new Map<string, number>();
  let isHalted = false;

  let forgotAt = Number.NEGATIVE_INFINITY;

  const forget = (now: number): void => {
    if (now < forgotAt + FORGET_MS) return;
    forgotAt = now;
    for (const [orderId, { expiresAt }] of offers) if (expiresAt <= now) offers.delete(orderId);
    for (const [orderId, at] of receipted) if (at + LONGEST_TTL_MS <= now) receipted.delete(orderId);
    for (const [runtimeId, at] of polledAt) if (at + POLLING_MS <= now) polledAt.delete(runtimeId);
    for (const [orderId, at] of unstarted) if (at + LONGEST_TTL_MS <= now) unstarted.delete(orderId);
    for (const [agentId, { stampedAt }] of reserved) if (stampedAt + LONGEST_TTL_MS <= now) reserved.delete(agentId);
  };
  const remember = (order: Addressed): void => {
    known.set(order.orderId, order);
    const [oldest] = known.keys();
    if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
  };
  const reserve = ({ payload: { agentId, runtimeId, orderId } }: Order, stampedAt: number): void => {
    const isOlder = (reserved.get(agentId)?.stampedAt ?? NOT_YET) > stampedAt;
    if (!isOlder && !unstarted.has(orderId)) reserved.set(agentId, { orderId, runtimeId, stampedAt });
  };
  const alive = (now: number, matches: (order: Order) => boolean): Offer[] =>
    [...offers.values()].filter(({ order, expiresAt }) => expiresAt > now && matches(order));
  const ofRuntime = (runtimeId: string, now: number): Offer[] =>
    alive(now, ({ payload }) => payload.runtimeId === runtimeId);
  const isOffered = (type: Order['type']): boolean => !isHalted || takesBack.has(type);
  const offeredTo = (runtimeId: string, now: number): Offer[] =>
    ofRuntime(runtimeId, now).filter(({ order }) => isOffered(order.type));
  const recalledOf = (runtimeId: string, now: number): Offer[] =>
    isHalted ? ofRuntime(runtimeId, now).filter(({ order }) => order.type !== 'RESET_BREAKER') : [];
  const offered = (offer: Offer, now: number): OrderEnvelope =>
    envelope(isHalted ? { ...offer, order: wordless(offer.order) } : offer, now);
  const polls = (runtimeId: string, now: number): boolean => {
    const at = polledAt.get(runtimeId);
    return at !== undefined && now < at + POLLING_MS;
  };

  return {
    /** `stampedAt`: the broker's, from which its time to live counts; a spawn's from its decision */
    observeOrder: (order: Order, stampedAt: number): void => {
      const { orderId, ttlMs } = order.payload;
      forget(stampedAt);
      remember(addressed(order));
      if (order.type === 'SPAWN_AGENT') reserve(order, stampedAt);
      if (receipted.has(orderId) || offers.has(orderId)) return;
      const expiresAt = countsFrom(order, stampedAt) + Math.min(ttlMs, LONGEST_TTL_MS);
      offers.set(orderId, { order, expiresAt, offeredAt: NOT_YET, recalledAt: NOT_YET });
    },
    observeReceipt: (orderId: string, now: number): void => {
      forget(now);
      offers.delete(orderId);
      receipted.set(orderId, now);
    },
    /** The name of an agent that was not started is free again. */
    observeSpawnReceipt: ({ agentId, orderId, outcome }: SpawnReceiptPayload, now: number): void => {
      if (mayHaveStarted[outcome] || agentId === null) return;
      unstarted.set(orderId, now);
      if (reserved.get(agentId)?.orderId === orderId) reserved.delete(agentId);
    },
    observePoll: (runtimeId: string, now: number): void => {
      forget(now);
      polledAt.set(runtimeId, now);
    },
    /** While the fleet is halted, only what takes back is offered, and the rest is recalled. */
    setHalted: (halted: boolean): void => {
      if (halted === isHalted) return;
      isHalted = halted;
      for (const offer of offers.values()) {
        offer.offeredAt = NOT_YET;
        offer.recalledAt = NOT_YET;
      }
    },
    /**
     * Orders that a polling runtime must not begin, unless it was informed a moment ago; of a resume its text. Empty
     * unless halted.
     */
    recalledFrom: (runtimeId: string, now: number): readonly OrderEnvelope[] => {
      const due = recalledOf(runtimeId, now).filter(({ recalledAt }) => recalledAt + REPEAT_MS <= now);
      for (const offer of due) offer.recalledAt = now;
      return due.map((offer) => envelope(offer, now));
    },
    /** What a polling runtime has not been offered in the last moments; from now on it has. */
    offerToRuntime: (runtimeId: string, now: number): readonly OrderEnvelope[] => {
      const due = offeredTo(runtimeId, now).filter(({ offeredAt }) => offeredAt + REPEAT_MS <= now);
      for (const offer of due) offer.offeredAt = now;
      return due.map((offer) => offered(offer, now));
    },
    /** When `offerToRuntime` or `recalledFrom` has something to repeat: Infinity while there is nothing. */
    repeatsAt: (runtimeId: string, now: number): number =>
      Math.min(
        ...offeredTo(runtimeId, now).map(({ offeredAt }) => Math.max(now, offeredAt + REPEAT_MS)),
        ...recalledOf(runtimeId, now).map(({ recalledAt }) => Math.max(now, recalledAt + REPEAT_MS)),
      ),
    /**
     * The pending orders that an agent carries out itself, while its runtime does not poll: never the end of a
     * process, never an order for another instance.
     */
    offerToAgent: (agentId: string, instanceId: string | null, now: number): readonly OrderEnvelope[] =>
      alive(
        now,
        ({ type, payload }) =>
          AGENT_KINDS.has(KIND_OF[type]) &&
          payload.agentId === agentId &&
          (payload.instanceId === null || payload.instanceId === instanceId) &&
          !polls(payload.runtimeId, now) &&
          isOffered(type),
      ).map((offer) => offered(offer, now)),
    /** The runtime that was ordered to start an agent of this name; null: none was lately. */
    reservedFor: (agentId: string, now: number): string | null => {
      const known = reserved.get(agentId);
      return known !== undefined && now < known.stampedAt + LONGEST_TTL_MS ? known.runtimeId : null;
    },
    /** An order that has been read, pending or over; null: none of that id. */
    find: (orderId: string): Addressed | null => known.get(orderId) ?? null,
  };
};
