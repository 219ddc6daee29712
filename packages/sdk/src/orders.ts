import type { ContentOf, OrderOutcome, OrderReceiptPayload, Topic } from '@vigil/events';
import type { ReceivedCommand } from './commands.ts';
import { noEnd } from './receipts.ts';
import { overtaken } from './report/progress.ts';
import type { TransportDeps } from './transport/transport.ts';

type Offered<O> = O extends { readonly type: string } ? Omit<O, 'topic'> & { readonly expiresInMs: number } : never;
/** An order as the gateway offers it. One of an unknown type is ignored. */
export type Envelope = Offered<ContentOf<typeof Topic.agentOrder>>;

/** The orders that an agent can carry out by itself. Its runtime executes the others. */
const kinds = {
  NUDGE_AGENT: 'nudge',
  PROBE_AGENT: 'probe',
  HANDOFF_AGENT: 'handoff',
  RESET_BREAKER: 'reset_breaker',
} as const;
type Ours = Extract<Envelope, { readonly type: keyof typeof kinds }>;
const isOurs = (order: { readonly type: string }): order is Ours => Object.hasOwn(kinds, order.type);

const commandIn = (order: Ours): ReceivedCommand => {
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

/** Receipts that are kept, to be sent again: an order is offered until the gateway has its receipt. */
const MOST_RECEIPTS = 200;

/** Orders for the agent itself: each is delivered once, and answered each time it is offered. */
export class Orders {
  readonly #deps: TransportDeps;
  readonly #receipts = new Map<string, OrderReceiptPayload>();
  #highestNumber = -1;

  constructor(deps: TransportDeps) {
    this.#deps = deps;
  }

  /** Returns the receipts to report. */
  handle(envelopes: readonly Envelope[]): readonly OrderReceiptPayload[] {
    const ours = envelopes.filter(isOurs).filter(({ payload }) => payload.agentId === this.#deps.identity.agentId);
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
    const own = this.#deps.identity.instanceId;
    if (instanceId !== null && instanceId !== own)
      return ['superseded', `meant for ${instanceId}; this instance is ${own}`];
    if (number <= this.#highestNumber) return ['superseded', `number ${this.#highestNumber} was heeded before`];
    if (order.expiresInMs <= 0) return ['expired', 'its time to live was over when it was read'];
    if (overtaken(this.#deps.progress(), order.payload))
      return ['superseded', `what was awaited has come since heartbeat ${foldedSequence}`];
    this.#highestNumber = number;
    if (!this.#deps.deliver(commandIn(order)))
      return ['failed', 'the agent does not listen for commands: pass onCommand to connect'];
    return [order.type === 'RESET_BREAKER' ? 'done' : 'delivered', null];
  }

  #receipt({ type, payload }: Ours, [outcome, why]: Outcome): OrderReceiptPayload {
    const { agentId } = this.#deps.identity;
    return {
      orderId: payload.orderId,
      kind: kinds[type],
      agentId,
      instanceId: payload.instanceId,
      // The receipt of an agent without a runtime names the agent.
      runtimeId: payload.runtimeId === '' ? agentId : payload.runtimeId,
      outcome,
      why,
      at: this.#deps.system.now(),
      ...noEnd,
    };
  }
}
