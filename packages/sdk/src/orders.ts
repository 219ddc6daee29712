import type { ContentOf, OrderOutcome, OrderReceiptPayload, Topic } from '@vigil/events';
import { overtaken } from './progress.ts';
import { noEnd } from './receipts.ts';
import type { Line } from './transport/transport.ts';
import type { Heard } from './words.ts';

type Offered<O> = O extends { readonly type: string } ? Omit<O, 'topic'> & { readonly expiresInMs: number } : never;
/** As the gateway offers it; one whose type this version does not know is left alone. */
export type Envelope = Offered<ContentOf<typeof Topic.agentOrder>>;

/** What an agent can do by itself. The others are for the hands of its runtime. */
const kinds = {
  NUDGE_AGENT: 'nudge',
  PROBE_AGENT: 'probe',
  HANDOFF_AGENT: 'handoff',
  RESET_BREAKER: 'reset_breaker',
} as const;
type Ours = Extract<Envelope, { readonly type: keyof typeof kinds }>;
const isOurs = (order: { readonly type: string }): order is Ours => Object.hasOwn(kinds, order.type);

const heardIn = (order: Ours): Heard => {
  switch (order.type) {
    case 'NUDGE_AGENT':
      return { kind: 'nudge', message: order.payload.message };
    case 'PROBE_AGENT':
      return { kind: 'probe', message: order.payload.message, nonce: order.payload.nonce };
    case 'HANDOFF_AGENT':
      return { kind: 'handoff', message: order.payload.message, deadlineMs: order.payload.deadlineMs };
    case 'RESET_BREAKER':
      return { kind: 'reset_breaker', name: order.payload.name };
  }
};

type Outcome = readonly [OrderOutcome, string | null];

/** Receipts that are kept, to be given again: an order is offered until the gateway has seen its receipt. */
const MOST_RECEIPTS = 200;

/** Orders for the agent itself: each is passed on once, and answered each time it is offered. */
export class Orders {
  readonly #line: Line;
  readonly #receipts = new Map<string, OrderReceiptPayload>();
  #highestNumber = -1;

  constructor(line: Line) {
    this.#line = line;
  }

  /** The receipts that are to be reported. */
  heed(envelopes: readonly Envelope[]): readonly OrderReceiptPayload[] {
    const ours = envelopes.filter(isOurs).filter(({ payload }) => payload.agentId === this.#line.who.agentId);
    ours.sort((a, b) => a.payload.number - b.payload.number);
    return ours.map((order) => this.#receipts.get(order.payload.orderId) ?? this.#answer(order));
  }

  #answer(order: Ours): OrderReceiptPayload {
    const receipt = this.#receipt(order, this.#outcome(order));
    this.#receipts.set(receipt.orderId, receipt);
    const [oldest] = this.#receipts.keys();
    if (this.#receipts.size > MOST_RECEIPTS && oldest !== undefined) this.#receipts.delete(oldest);
    return receipt;
  }

  #outcome(order: Ours): Outcome {
    const { instanceId, number, foldedSequence } = order.payload;
    const own = this.#line.who.instanceId;
    if (instanceId !== null && instanceId !== own) return ['superseded', `meant for ${instanceId}; here lives ${own}`];
    if (number <= this.#highestNumber) return ['superseded', `number ${this.#highestNumber} was heeded before`];
    if (order.expiresInMs <= 0) return ['expired', 'its time to live was over when it was read'];
    if (overtaken(this.#line.progress(), order.payload))
      return ['superseded', `what was awaited has come since heartbeat ${foldedSequence}`];
    this.#highestNumber = number;
    if (!this.#line.hear(heardIn(order))) return ['failed', 'the agent listens to no words: give connect an onWord'];
    return [order.type === 'RESET_BREAKER' ? 'done' : 'delivered', null];
  }

  #receipt({ type, payload }: Ours, [outcome, why]: Outcome): OrderReceiptPayload {
    const { agentId } = this.#line.who;
    return {
      orderId: payload.orderId,
      kind: kinds[type],
      agentId,
      instanceId: payload.instanceId,
      // An agent without a runtime answers for itself.
      runtimeId: payload.runtimeId === '' ? agentId : payload.runtimeId,
      outcome,
      why,
      at: this.#line.world.now(),
      ...noEnd,
    };
  }
}
