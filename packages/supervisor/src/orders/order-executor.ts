import type { MachineClock } from '../clock.ts';
import type { ReceiptDeps } from '../deps.ts';
import type { Push, TextPush } from '../messages/agent-socket.ts';
import type { Pid } from '../process/proc.ts';
import { type Admission, admit, isNumbered, type ProcessState } from './admit.ts';
import {
  type AgentOrder,
  type InterruptAgent,
  type Outcome,
  type Received,
  type RepeatableOrder,
  type Resume,
  type ResumeSession,
  type Terminate,
  type Text,
  textOf,
} from './order.ts';
import { PostResumeMessages } from './post-resume-messages.ts';
import { answer, HALTED, receiptIn } from './receipts.ts';

export type HandoffMemory = {
  /** the last handoff order */
  readonly handedOff: string | null;
  /** its deadline, epoch milliseconds; not every note has it */
  readonly handedOffUntil?: number | undefined;
};

/** The last handoff order of an agent, and until when an end counts as carrying it out. */
export class Handoff {
  readonly #clock: MachineClock;
  #memory: HandoffMemory;
  /** on the monotonic clock */
  #until: number;

  constructor(clock: MachineClock, { handedOff, handedOffUntil }: HandoffMemory) {
    this.#clock = clock;
    this.#memory = { handedOff, handedOffUntil };
    this.#until = clock.monotonic() + (handedOffUntil ?? Number.POSITIVE_INFINITY) - clock.now();
  }

  get memory(): HandoffMemory {
    return this.#memory;
  }

  requested(orderId: string, deadlineMs: number): void {
    this.#memory = { handedOff: orderId, handedOffUntil: this.#clock.now() + deadlineMs };
    this.#until = this.#clock.monotonic() + deadlineMs;
  }

  /**
   * The handoff order that an end this many milliseconds ago has carried out; null: there was none, or its deadline
   * had passed.
   */
  orderOf(agoMs: number): string | null {
    return this.#clock.monotonic() - agoMs <= this.#until ? this.#memory.handedOff : null;
  }
}

/** The process that orders are carried out on. */
export type AgentProcess = {
  readonly pid: Pid;
  readonly process: () => ProcessState;
  /** by the way that its process names; comes back with what became of it */
  readonly send: (message: TextPush, text: string) => Promise<Outcome>;
  /** to all programs on its socket; false: none is connected */
  readonly push: (message: Push) => boolean;
  /** closes a breaker that is held for the agent; false: none of that name is */
  readonly resetBreaker: (name: string) => boolean;
  /** pauses it, for at most this time, and continues it; false: that failed */
  readonly pause: (forMs: number) => Promise<boolean>;
  readonly resume: () => Promise<boolean>;
  /** resolves with the content of the receipt, when it is dead or will not die */
  readonly end: (order: Terminate) => Promise<Outcome>;
  /** ends the turn of its client */
  readonly interrupt: (order: InterruptAgent) => Promise<Outcome>;
  /** ends its processes and starts its session again */
  readonly resumeSession: (order: ResumeSession) => Promise<Outcome>;
};

/** What the order executor of the next supervisor needs. */
export type OrderExecutorMemory = HandoffMemory & {
  /** of the orders that were begun; -1: none */
  readonly highestNumber: number;
};

/**
 * A waiting order begins only if the gateway has repeated it within this time, milliseconds: it does so every five
 * seconds, and not while the fleet is halted. A disconnected runtime thus begins no order that a halt may have
 * recalled.
 */
const REPEATED_MS = 10_000;

/** Executes the orders for one agent: each at most once, by their numbers, and answers each. */
export class OrderExecutor {
  readonly #agentProcess: AgentProcess;
  readonly #deps: ReceiptDeps;
  readonly #waiting = new Map<string, Received<AgentOrder>>();
  /** orders that the journal could not take */
  readonly #unwritten = new Set<string>();
  /** why an order has not been carried out yet */
  readonly #waitsFor = new Map<string, string>();
  readonly #underWay = new Map<string, Promise<void>>();
  /** when each order that waits, or whose message waits, was last offered; monotonic */
  readonly #offeredAt = new Map<string, number>();
  readonly #postResumeMessages = new PostResumeMessages();
  readonly #handoff: Handoff;
  #highestNumber: number;
  #pausing: Promise<unknown> = Promise.resolve();

  constructor(agentProcess: AgentProcess, deps: ReceiptDeps, memory: OrderExecutorMemory) {
    this.#agentProcess = agentProcess;
    this.#deps = deps;
    this.#highestNumber = memory.highestNumber;
    this.#handoff = new Handoff(deps.clock, memory);
  }

  get memory(): OrderExecutorMemory {
    return { highestNumber: this.#highestNumber, ...this.#handoff.memory };
  }

  /** Completes an order that another supervisor began, by the journal. */
  carryThrough(order: RepeatableOrder): void {
    this.#carryOut(order, () => this.#perform({ order, expiresAt: Number.POSITIVE_INFINITY }));
  }

  /** An order offered again while it waits keeps its first time to live. */
  offer(order: AgentOrder, expiresInMs: number): void {
    const { orderId } = order.payload;
    this.#offeredAt.set(orderId, this.#deps.clock.monotonic());
    if (this.#underWay.has(orderId)) return;
    if (!this.#waiting.has(orderId))
      this.#waiting.set(orderId, { order, expiresAt: this.#deps.clock.monotonic() + expiresInMs });
    this.check();
  }

  /** The fleet is halted: an order that has not begun is answered, and never begins. A resume takes effect without its message. */
  recall(order: AgentOrder): void {
    const { orderId } = order.payload;
    if (order.type === 'RESUME_AGENT') this.#postResumeMessages.drop(orderId, HALTED);
    if (this.#underWay.has(orderId) || order.type === 'RESUME_AGENT' || order.type === 'RESET_BREAKER') return;
    const receipt = receiptIn(this.#deps, orderId);
    if (receipt) return void this.#deps.outbox.put({ type: 'ORDER_RECEIPT', payload: receipt });
    this.#forget(orderId);
    answer(this.#deps, order, 'halted', { why: HALTED });
  }

  #forget(orderId: string): void {
    this.#waiting.delete(orderId);
    this.#waitsFor.delete(orderId);
    this.#unwritten.delete(orderId);
    this.#offeredAt.delete(orderId);
  }

  #isRepeated = (orderId: string): boolean =>
    this.#deps.clock.monotonic() - (this.#offeredAt.get(orderId) ?? Number.NEGATIVE_INFINITY) <= REPEATED_MS;

  /** The orders that wait, by their numbers. */
  get #ordered(): readonly Received<AgentOrder>[] {
    return [...this.#waiting.values()].sort((a, b) => a.order.payload.number - b.order.payload.number);
  }

  /** What waits is admitted as soon as it may be. */
  check(): void {
    const now = this.#deps.clock.monotonic();
    const send = ({ orderId, message }: Text) =>
      this.#agentProcess.send({ nudge: message, order_id: orderId }, message);
    this.#postResumeMessages.check(this.#agentProcess.process(), { now, isRepeated: this.#isRepeated }, send);
    for (const received of this.#ordered) this.#settle(received, this.#admit(received));
  }

  /** The handoff order that an end this many milliseconds ago has carried out; null: none. */
  handoffOf(agoMs: number): string | null {
    return this.#handoff.orderOf(agoMs);
  }

  /** Texts that a hook may pass on now; each is begun by its `pass`. */
  textsDue(): readonly Text[] {
    const orders = this.#ordered.filter((received) => this.#admit(received, 'socket').kind === 'go');
    return [
      ...this.#postResumeMessages.due(this.#agentProcess.process(), this.#isRepeated),
      ...orders.flatMap(({ order }) => textOf(order)),
    ];
  }

  /** `toHook` is called at once, and resolves when the hook has confirmed it or is gone. Where the journal cannot be written it is not called. */
  pass(text: Text, toHook: (text: Text) => Promise<boolean>): void {
    const received = this.#waiting.get(text.orderId);
    if (received === undefined) return void this.#postResumeMessages.pass(text, toHook(text));
    this.#waiting.delete(text.orderId);
    this.#waitsFor.delete(text.orderId);
    this.#begin(received, async () => ((await toHook(text)) ? ['delivered'] : goneWithIt));
  }

  #admit(received: Received<AgentOrder>, by?: ProcessState['channel']): Admission {
    const done = { get: (orderId: string) => receiptIn(this.#deps, orderId) };
    const agentProcess = this.#agentProcess.process();
    const process = { ...agentProcess, channel: by ?? agentProcess.channel, done, highestNumber: this.#highestNumber };
    const admission = admit(received, process, this.#deps.clock.monotonic());
    return admission.kind === 'go' && !this.#isRepeated(received.order.payload.orderId) ? notRepeated : admission;
  }

  #settle(received: Received<AgentOrder>, admission: Admission): void {
    const { order } = received;
    const { orderId } = order.payload;
    if (admission.kind === 'wait') return void this.#waitsFor.set(orderId, admission.why);
    const waitedFor = this.#waitsFor.get(orderId);
    this.#waitsFor.delete(orderId);
    this.#waiting.delete(orderId);
    if (admission.kind === 'go') return void this.#begin(received);
    this.#forget(orderId);
    switch (admission.kind) {
      case 'again':
        this.#deps.outbox.put({ type: 'ORDER_RECEIPT', payload: admission.receipt });
        return;
      case 'superseded':
      case 'failed':
        answer(this.#deps, order, admission.kind, { why: admission.why });
        return;
      case 'expired': {
        const why = waitedFor === undefined ? admission.why : `${admission.why}; it waited: ${waitedFor}`;
        answer(this.#deps, order, 'expired', { why });
      }
    }
  }

  #begin(received: Received<AgentOrder>, perform = () => this.#perform(received)): void {
    const { order } = received;
    const { orderId } = order.payload;
    try {
      this.#deps.journal.write({ kind: 'begun', orderId, order, pid: this.#agentProcess.pid });
    } catch (error) {
      this.#keepWaiting(received, error);
      return;
    }
    this.#unwritten.delete(orderId);
    this.#carryOut(order, perform);
  }

  /** Its `begun` is in the journal. */
  #carryOut(order: AgentOrder, perform: () => Promise<Outcome>): void {
    const { orderId, number } = order.payload;
    if (isNumbered(order)) this.#highestNumber = Math.max(this.#highestNumber, number);
    const done = perform()
      .catch((error: unknown): Outcome => ['failed', { why: String(error) }])
      .then(([outcome, more]) => this.#answer(order, outcome, more))
      .finally(() => {
        this.#underWay.delete(orderId);
        this.#offeredAt.delete(orderId);
      });
    this.#underWay.set(orderId, done);
  }

  /** The disk does not take it, so it has no effect yet: it is tried again until it expires. */
  #keepWaiting(received: Received<AgentOrder>, error: unknown): void {
    const { order } = received;
    const { orderId } = order.payload;
    this.#waiting.set(orderId, received);
    if (this.#unwritten.has(orderId)) return;
    this.#unwritten.add(orderId);
    this.#deps.logger('an order waits: the journal cannot be written', {
      type: order.type,
      orderId,
      error: String(error),
    });
  }

  #answer(order: AgentOrder, ...[outcome, more]: Outcome): void {
    if (order.type === 'HANDOFF_AGENT' && (outcome === 'delivered' || outcome === 'uncertain'))
      this.#handoff.requested(order.payload.orderId, order.payload.deadlineMs);
    answer(this.#deps, order, outcome, more);
  }

  /** Resolves when no order is being executed: every begun order is answered. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay.values());
  }

  async #perform({ order, expiresAt }: Received<AgentOrder>): Promise<Outcome> {
    switch (order.type) {
      case 'NUDGE_AGENT': {
        const { orderId: order_id, message } = order.payload;
        return this.#agentProcess.send({ nudge: message, order_id }, message);
      }
      case 'PROBE_AGENT': {
        const { orderId: order_id, message, nonce } = order.payload;
        return this.#agentProcess.send({ probe: nonce, message, order_id }, message);
      }
      case 'HANDOFF_AGENT': {
        const { orderId: order_id, message, deadlineMs } = order.payload;
        return this.#agentProcess.send(
          { type: 'handoff_request', message, deadline_ms: deadlineMs, order_id },
          message,
        );
      }
      case 'RESET_BREAKER':
        return this.#reset(order.payload.name) ? ['done'] : noListener;
      case 'PAUSE_AGENT':
        return (await this.#inTurn(() => this.#agentProcess.pause(order.payload.forMs))) ? ['done'] : commandFailed;
      case 'RESUME_AGENT':
        return this.#resume(order, expiresAt);
      case 'INTERRUPT_AGENT':
        return this.#agentProcess.interrupt(order);
      case 'RESUME_SESSION':
        return this.#agentProcess.resumeSession(order);
      case 'TERMINATE_AGENT':
        return this.#agentProcess.end(order);
    }
  }

  /** Every part that has a breaker of this name closes it. */
  #reset(name: string): boolean {
    const here = this.#agentProcess.resetBreaker(name);
    return this.#agentProcess.push({ type: 'reset_breaker', name }) || here;
  }

  /** An agent that was never paused receives no message; one that has resumed by itself still does. */
  async #resume({ payload: { orderId, message } }: Resume, expiresAt: number): Promise<Outcome> {
    const { paused, resumedByItself, goes } = await this.#inTurn(async () => {
      const before = this.#agentProcess.process();
      return { ...before, goes: !before.paused || (await this.#agentProcess.resume()) };
    });
    if (!paused && !resumedByItself) return ['done', { why: 'it was not paused' }];
    if (!goes) return commandFailed;
    const before = paused ? null : 'its pause was over: it had gone on by itself';
    if (message === null) return ['done', { why: before }];
    const sent = this.#postResumeMessages.wait({ orderId, message }, expiresAt);
    this.check();
    const reason = await sent;
    return ['done', { why: reason === null ? before : `the agent continues without the text: ${reason}` }];
  }

  /** Pauses and resumes, one after the other: a resume that comes with its pause must find it carried out. */
  #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const done = this.#pausing.then(change);
    this.#pausing = done.catch(() => {});
    return done;
  }
}

const notRepeated: Admission = {
  kind: 'wait',
  why: 'the gateway does not repeat it: it is away, or the fleet is halted',
};
const goneWithIt: Outcome = ['uncertain', { why: 'the hook that received it ended without a confirmation' }];
const noListener: Outcome = ['failed', { why: 'no program is connected to the agent’s socket' }];
const commandFailed: Outcome = ['failed', { why: 'the configured command failed; the runtime’s log has the error' }];
