import type { OrderReceiptPayload } from '@vigil/events';
import { type Admission, admit, type Process } from './admit.ts';
import type { World } from './agent.ts';
import { type AgentOrder, type Received, receiptOf } from './order.ts';
import type { Pid } from './proc.ts';
import type { Push } from './socket.ts';

/** An order that is a text for the agent. */
export type TextOrder = Extract<AgentOrder, { type: 'NUDGE_AGENT' | 'PROBE_AGENT' | 'HANDOFF_AGENT' }>;
export type Terminate = Extract<AgentOrder, { type: 'TERMINATE_AGENT' }>;

/** The process that orders are carried out on. */
export type Body = {
  readonly pid: Pid;
  readonly process: () => Omit<Process, 'done' | 'highestNumber'>;
  /** as if a person had typed it and pressed return */
  readonly type: (text: string) => void;
  /** false: nobody listens */
  readonly push: (message: Push) => boolean;
  /** closes a breaker that is held for the agent; false: none of that name is */
  readonly resetBreaker: (name: string) => boolean;
  readonly stop: () => void;
  readonly go: () => void;
  /** comes back with what the receipt says, when it is dead or will not die */
  readonly end: (order: Terminate) => Promise<Partial<OrderReceiptPayload>>;
};

type Outcome = readonly [OrderReceiptPayload['outcome'], Partial<OrderReceiptPayload>?];

/** Carries out the orders for one agent: each at most once, in the order of their numbers, and answers each. */
export class Hands {
  readonly #body: Body;
  readonly #world: World;
  readonly #waiting = new Map<string, Received<AgentOrder>>();
  readonly #underWay = new Map<string, Promise<void>>();
  #highestNumber = -1;

  constructor(body: Body, world: World) {
    this.#body = body;
    this.#world = world;
  }

  /** An order offered again while it waits keeps its first time to live. */
  offer(order: AgentOrder, expiresInMs: number): void {
    const { orderId } = order.payload;
    if (this.#underWay.has(orderId) || this.#waiting.has(orderId)) return;
    this.#waiting.set(orderId, { order, expiresAt: this.#world.clock.monotonic() + expiresInMs });
    this.lookAgain();
  }

  /** What waits is admitted as soon as it may be. */
  lookAgain(): void {
    const waiting = [...this.#waiting.values()].sort((a, b) => a.order.payload.number - b.order.payload.number);
    for (const received of waiting) this.#settle(received, this.#admit(received));
  }

  /** Texts that a hook may pass on now; each is begun by its `pass`, which resolves when the hook has said that it did, or is gone. */
  textsDue(): readonly TextOrder[] {
    const texts = [...this.#waiting.values()].filter(({ order }) => isText(order));
    return texts
      .sort((a, b) => a.order.payload.number - b.order.payload.number)
      .filter((received) => this.#admit(received, 'socket').verdict === 'go')
      .map(({ order }) => order as TextOrder);
  }

  pass(order: TextOrder, toHook: (order: TextOrder) => Promise<boolean>): void {
    this.#waiting.delete(order.payload.orderId);
    this.#begin(order, async () => ((await toHook(order)) ? ['delivered'] : goneWithIt));
  }

  #admit(received: Received<AgentOrder>, by?: Process['channel']): Admission {
    const done = { get: (orderId: string) => receiptIn(this.#world, orderId) };
    const body = this.#body.process();
    const process = { ...body, channel: by ?? body.channel, done, highestNumber: this.#highestNumber };
    return admit(received, process, this.#world.clock.monotonic());
  }

  #settle({ order }: Received<AgentOrder>, admission: Admission): void {
    if (admission.verdict === 'wait') return;
    this.#waiting.delete(order.payload.orderId);
    switch (admission.verdict) {
      case 'go':
        this.#begin(order);
        return;
      case 'again':
        this.#world.outbox.put({ type: 'ORDER_RECEIPT', payload: admission.receipt });
        return;
      case 'superseded':
      case 'expired':
        answer(this.#world, order, admission.verdict, { why: admission.why });
    }
  }

  #begin(order: AgentOrder, perform = () => this.#perform(order)): void {
    const { orderId, number } = order.payload;
    this.#world.journal.write({ kind: 'begun', orderId, order, pid: this.#body.pid });
    this.#highestNumber = number;
    const done = perform()
      .catch((error: unknown): Outcome => ['failed', { why: String(error) }])
      .then(([outcome, more]) => answer(this.#world, order, outcome, more))
      .finally(() => this.#underWay.delete(orderId));
    this.#underWay.set(orderId, done);
  }

  /** Resolves when nothing is under way: all that was begun is answered. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay.values());
  }

  async #perform(order: AgentOrder): Promise<Outcome> {
    switch (order.type) {
      case 'NUDGE_AGENT':
        return this.#tell({ nudge: order.payload.message }, order.payload.message);
      case 'PROBE_AGENT':
        return this.#tell({ probe: order.payload.nonce, message: order.payload.message }, order.payload.message);
      case 'HANDOFF_AGENT': {
        const { message, deadlineMs } = order.payload;
        return this.#tell({ type: 'handoff_request', message, deadline_ms: deadlineMs }, message);
      }
      case 'RESET_BREAKER':
        return this.#reset(order.payload.name) ? ['done'] : nobodyListens;
      case 'PAUSE_AGENT':
        this.#body.stop();
        return ['done'];
      case 'RESUME_AGENT':
        this.#body.go();
        return ['done'];
      case 'TERMINATE_AGENT': {
        const receipt = await this.#body.end(order);
        return [receipt.confirmed ? 'done' : 'failed', receipt];
      }
    }
  }

  /** Whoever holds one of that name closes it. */
  #reset(name: string): boolean {
    const here = this.#body.resetBreaker(name);
    return this.#body.push({ type: 'reset_breaker', name }) || here;
  }

  #tell(message: Push, text: string): Outcome {
    if (this.#body.process().channel === 'socket') return this.#body.push(message) ? ['delivered'] : nobodyListens;
    this.#body.type(text);
    return ['delivered'];
  }
}

const isText = ({ type }: AgentOrder): boolean =>
  type === 'NUDGE_AGENT' || type === 'PROBE_AGENT' || type === 'HANDOFF_AGENT';

const goneWithIt: Outcome = ['uncertain', { why: 'the hook that it was given to ended without a word' }];
const nobodyListens: Outcome = ['failed', { why: 'nobody is connected to the agent’s socket' }];

/** The receipt by which an order was answered before. */
export const receiptIn = (world: World, orderId: string): OrderReceiptPayload | undefined => {
  const report = world.journal.reportOf(orderId);
  return report?.type === 'ORDER_RECEIPT' ? report.payload : undefined;
};

/** In the journal first: the order is done, even if the receipt has to be sent by the next supervisor. */
export const answer = (
  world: World,
  order: AgentOrder,
  outcome: OrderReceiptPayload['outcome'],
  more: Partial<OrderReceiptPayload> = {},
): void => {
  const payload = receiptOf(order, world.clock.now(), outcome, more);
  const report = { type: 'ORDER_RECEIPT', payload } as const;
  world.journal.write({ kind: 'done', orderId: payload.orderId, report });
  world.outbox.put(report);
  world.log('an order is answered', { type: order.type, orderId: payload.orderId, outcome, why: payload.why });
};
