import type { EventOf, Topic } from '@vigil/events';

type Order = EventOf<typeof Topic.agentOrder>;

/**
 * An order in the form that runtimes receive; the rest of its time to live counts on the receiver's monotonic clock.
 */
export type OrderEnvelope = {
  readonly type: Order['type'];
  readonly payload: Order['payload'];
  readonly expiresInMs: number;
};

/** The addressee of an order, and its context. */
export type Addressed = Pick<Order['payload'], 'orderId' | 'runtimeId' | 'agentId' | 'instanceId' | 'taskId'> & {
  readonly correlationId: string;
};

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

const NOT_YET = Number.NEGATIVE_INFINITY;

/** These need no ruling: they take back what another order has done. A halt stops only the words of a resume. */
const takesBack: ReadonlySet<Order['type']> = new Set(['RESUME_AGENT', 'RESET_BREAKER']);

const wordless = (order: Order): Order =>
  order.type === 'RESUME_AGENT' ? { ...order, payload: { ...order.payload, message: null } } : order;

const addressed = ({ payload, correlationId }: Order): Addressed => {
  const { orderId, runtimeId, agentId, instanceId, taskId } = payload;
  return { orderId, runtimeId, agentId, instanceId, taskId, correlationId };
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
  let isHalted = false;

  let forgotAt = Number.NEGATIVE_INFINITY;

  const forget = (now: number): void => {
    if (now < forgotAt + FORGET_MS) return;
    forgotAt = now;
    for (const [orderId, { expiresAt }] of offers) if (expiresAt <= now) offers.delete(orderId);
    for (const [orderId, at] of receipted) if (at + LONGEST_TTL_MS <= now) receipted.delete(orderId);
    for (const [runtimeId, at] of polledAt) if (at + POLLING_MS <= now) polledAt.delete(runtimeId);
  };
  const remember = (order: Addressed): void => {
    known.set(order.orderId, order);
    const [oldest] = known.keys();
    if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
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
      if (receipted.has(orderId) || offers.has(orderId)) return;
      const expiresAt = countsFrom(order, stampedAt) + Math.min(ttlMs, LONGEST_TTL_MS);
      offers.set(orderId, { order, expiresAt, offeredAt: NOT_YET, recalledAt: NOT_YET });
    },
    observeReceipt: (orderId: string, now: number): void => {
      forget(now);
      offers.delete(orderId);
      receipted.set(orderId, now);
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
    /** The pending orders of an agent whose runtime does not poll: never a spawn, never an order for another instance. */
    offerToAgent: (agentId: string, instanceId: string | null, now: number): readonly OrderEnvelope[] =>
      alive(
        now,
        ({ type, payload }) =>
          type !== 'SPAWN_AGENT' &&
          payload.agentId === agentId &&
          (payload.instanceId === null || payload.instanceId === instanceId) &&
          !polls(payload.runtimeId, now) &&
          isOffered(type),
      ).map((offer) => offered(offer, now)),
    /** An order that has been read, pending or over; null: none of that id. */
    find: (orderId: string): Addressed | null => known.get(orderId) ?? null,
  };
};
