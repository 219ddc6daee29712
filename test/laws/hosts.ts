import type { Draft, HealthEvent } from '@vigil/events';
import { Topic } from '@vigil/events';
import { noEnd } from '@vigil/sdk/receipts';
import { admit } from '../../packages/supervisor/src/orders/admit.ts';
import {
  type AgentOrder,
  type Order,
  receiptOf,
  type SpawnOrder,
  spawnReceiptOf,
} from '../../packages/supervisor/src/orders/order.ts';
import { type Agent, type End, heartbeatOf } from './agents.ts';

export const HEARTBEAT_MS = 30_000;

/** How long an order may be begun after the last offer of the gateway; the supervisor's own value. */
export const REPEATED_MS = 10_000;

/** An order that the gateway stores for a runtime. `offeredAt`: the last offer. */
type Offered = { readonly order: Order; readonly expiresAt: number; offeredAt: number };

/** Orders that the gateway also offers during a halt. */
export const isOfferedInHalt = ({ type }: Order): boolean => type === 'RESUME_AGENT' || type === 'RESET_BREAKER';

/** A report to send. With a full disk it is only in memory; `forget`: the state that the next supervisor then lacks. */
type Report = { readonly draft: Draft; isWritten: boolean; readonly forget: () => void };

const isByPerson = (end: Pick<End, 'reason' | 'orderId'> | null): boolean =>
  end !== null && end.reason === 'explicit' && end.orderId === null;

/** The parts of the simulation that a host uses. */
export type HostDeps = {
  readonly now: () => number;
  readonly after: (ms: number, act: () => void) => void;
  readonly write: (draft: Draft) => void;
  readonly spawn: (host: Host, order: SpawnOrder) => void;
  /** called when an order is executed, for the laws */
  readonly begins: (host: Host, order: Order) => void;
};

/**
 * A host with its runtime: a model of packages/supervisor. Orders are begun once, in the order of their numbers, by the
 * same `admit`. Reports are sent until they are out. The next supervisor completes the work of a killed one.
 */
export class Host {
  readonly runtimeId: string;
  readonly agents: Agent[] = [];
  capacity = 2;
  /** whether orders reach it */
  canReceive = true;
  /** whether its reports arrive */
  canSend = true;
  hasRoomOnDisk = true;
  isSupervised = true;
  /** whether the gateway has a halt, in which it offers few orders and recalls offered ones */
  isHalted = false;
  /** the number of next spawns that fail */
  failingSpawns = 0;
  /** whether each report is sent twice */
  isDoubling = false;
  /** its reports are delayed until then, while its heartbeats continue */
  reportsFrom = 0;
  readonly #offered: Offered[] = [];
  readonly #waiting = new Map<string, Offered>();
  readonly #receipts = new Map<string, Draft>();
  readonly #begun = new Map<string, Order>();
  #outbox: Report[] = [];
  readonly #deps: HostDeps;

  constructor(runtimeId: string, deps: HostDeps) {
    this.runtimeId = runtimeId;
    this.#deps = deps;
  }

  get living(): readonly Agent[] {
    return this.agents.filter(({ end }) => end === null);
  }

  /** Whether it runs, and orders and reports arrive. */
  get isWell(): boolean {
    return this.canReceive && this.canSend && this.hasRoomOnDisk && this.isSupervised;
  }

  /** Adds an order at the gateway. */
  offer(order: Order, ttlMs: number) {
    const now = this.#deps.now();
    this.#offered.push({ order, expiresAt: now + ttlMs, offeredAt: now });
    this.look();
  }

  /** Accepts offered orders, checks waiting ones again, and writes and sends reports. */
  look() {
    if (!this.isSupervised) return;
    if (this.hasRoomOnDisk) for (const report of this.#outbox) report.isWritten = true;
    const now = this.#deps.now();
    if (this.canReceive) this.#receive(now);
    const waiting = [...this.#waiting.values()].sort((a, b) => a.order.payload.number - b.order.payload.number);
    for (const one of waiting) if (now <= one.offeredAt + REPEATED_MS) this.#consider(one);
    this.#send();
  }

  /** The gateway's answer to a poll: offered orders, and in a halt recalled ones. */
  #receive(now: number) {
    for (const one of this.#offered.splice(0))
      if (one.expiresAt >= now) this.#waiting.set(one.order.payload.orderId, one);
    for (const one of [...this.#waiting.values()])
      if (this.isHalted && !isOfferedInHalt(one.order)) this.#recall(one.order);
      else one.offeredAt = now;
  }

  #recall(order: Order) {
    const known = this.#receipts.get(order.payload.orderId);
    if (known) return this.#settle(order, known);
    if (order.type === 'SPAWN_AGENT') return this.#answerSpawn(order, 'halted', 'the fleet is halted');
    this.#answer(order, 'halted', { why: 'the fleet is halted' });
  }

  heartbeat(policy: string) {
    this.look();
    if (this.isSupervised) for (const agent of this.living) this.#heartbeatOf(agent, policy);
    this.announce();
  }

  announce() {
    if (!this.canSend || !this.isSupervised) return;
    const agents = this.living.map(({ agentId }) => agentId);
    const place = {
      runtimeId: this.runtimeId,
      host: this.runtimeId,
      labels: {},
      templates: [{ task: '*', labels: {} }],
    };
    const payload = { ...place, capacity: this.capacity, agents };
    this.#deps.write({ topic: Topic.runtimePresence, type: 'RUNTIME_ANNOUNCED', key: 'fleet', payload } as Draft);
  }

  /** Really ends an agent. Its supervisor, or the next one, reports the end. */
  end(agent: Agent, reason: End['reason'], orderId: string | null) {
    if (agent.end !== null) return;
    const at = this.#deps.now();
    const { terminatedBy } = agent;
    const isByPerson = reason === 'explicit' && orderId === null;
    agent.end =
      terminatedBy === null || isByPerson ? { reason, orderId, at } : { reason: 'explicit', orderId: terminatedBy, at };
    if (this.isSupervised) this.#reportEnd(agent);
  }

  /** Starts an agent here: for a person, or for an order. */
  start(agent: Agent, policy: string) {
    this.agents.push(agent);
    this.#heartbeatOf(agent, policy);
  }

  #heartbeatOf(agent: Agent, policy: string) {
    const payload = heartbeatOf(agent, this.runtimeId, this.runtimeId, policy, this.#deps.now());
    if (this.canSend)
      this.#deps.write({ topic: Topic.heartbeat, type: 'HEARTBEAT', key: agent.agentId, payload } as Draft);
  }

  /** The next supervisor: reports unreported ends, and completes begun orders. */
  supervise() {
    if (this.isSupervised) return;
    this.isSupervised = true;
    for (const agent of this.agents) if (agent.end !== null && !agent.isEndReported) this.#reportEnd(agent);
    for (const order of [...this.#begun.values()]) this.#carryThrough(order);
    this.look();
  }

  /**
   * Kills its supervisor. Waiting orders are lost, and offered again unless they have expired. Unwritten reports are
   * lost; its journal contains only the orders that were begun.
   */
  kill() {
    this.isSupervised = false;
    for (const { isWritten, forget } of this.#outbox) if (!isWritten) forget();
    this.#outbox = this.#outbox.filter(({ isWritten }) => isWritten);
    this.#offered.unshift(...this.#waiting.values());
    this.#waiting.clear();
  }

  /** Ends everything on the host at once. */
  crash() {
    this.kill();
    for (const agent of this.living) this.end(agent, 'crashed', null);
  }

  #reportEnd(agent: Agent) {
    const { reason, orderId, at } = agent.end as End;
    agent.isEndReported = true;
    const { agentId, instanceId, taskId } = agent;
    const nothing = {
      code: null,
      signal: null,
      details: null,
      checkpoint: null,
      lastOutput: [],
      forensics: null,
      policy: null,
    };
    const about = { agentId, instanceId, taskId, runtimeId: this.runtimeId, labels: { host: this.runtimeId } };
    const payload = { ...nothing, ...about, reason, at, orderId };
    const draft = { topic: Topic.controlAgent, type: 'AGENT_EXITED', key: agentId, payload } as Draft;
    this.#report(draft, () => {
      agent.isEndReported = false;
    });
  }

  #report(draft: Draft, forget: () => void) {
    const report = { draft, isWritten: this.hasRoomOnDisk, forget };
    this.#outbox.push(report);
    if (this.isDoubling) this.#deps.after(HEARTBEAT_MS, () => this.#outbox.push({ ...report, isWritten: true }));
    this.#send();
  }

  #send() {
    if (!this.canSend || !this.isSupervised || this.#deps.now() < this.reportsFrom) return;
    const reports = this.#outbox;
    this.#outbox = [];
    for (const { draft } of reports) this.#deps.write(draft);
  }

  #consider(one: Offered) {
    const { order } = one;
    if (order.type === 'SPAWN_AGENT') return this.#considerSpawn(order, one.expiresAt);
    const agent = this.agents.findLast(({ agentId }) => agentId === order.payload.agentId);
    const known = this.#receipts.get(order.payload.orderId);
    if (known) return this.#settle(order, known);
    const admission = admit({ order, expiresAt: one.expiresAt }, this.#processOf(agent), this.#deps.now());
    switch (admission.kind) {
      case 'wait':
      case 'again':
        return;
      case 'go':
        if (this.hasRoomOnDisk) this.#begin(order, agent as Agent);
        return;
      case 'superseded':
      case 'expired':
      case 'failed':
        this.#answer(order, admission.kind, { why: admission.why });
    }
  }

  #processOf(agent: Agent | undefined): Parameters<typeof admit>[1] {
    const now = this.#deps.now();
    return {
      instanceId: agent?.instanceId ?? 'none',
      ended: agent?.end?.reason ?? null,
      highestNumber: agent?.highestNumber ?? -1,
      done: new Map(),
      progress: agent?.progress as Agent['progress'],
      ...{ channel: 'socket', quiet: true, typing: { kind: 'line' }, isBeingTypedAt: false, resumedByItself: false },
      atQuestion: agent?.mode === 'waits',
      paused: (agent?.pausedUntil ?? 0) > now,
    };
  }

  #begin(order: AgentOrder, agent: Agent) {
    this.#deps.begins(this, order);
    this.#waiting.delete(order.payload.orderId);
    agent.highestNumber = order.payload.number;
    this.#begun.set(order.payload.orderId, order);
    this.#perform(order, agent);
  }

  #perform(order: AgentOrder, agent: Agent) {
    const now = this.#deps.now();
    switch (order.type) {
      case 'HANDOFF_AGENT':
        agent.handoff = order;
        this.#answer(order, 'delivered');
        if (agent.manners.leaves) this.#deps.after(20_000, () => this.#leave(agent, order.payload.orderId));
        return;
      case 'NUDGE_AGENT':
      case 'PROBE_AGENT':
      case 'INTERRUPT_AGENT':
      case 'RESUME_SESSION':
        this.#answer(order, order.type === 'NUDGE_AGENT' || order.type === 'PROBE_AGENT' ? 'delivered' : 'done');
        if (agent.manners.answers && agent.mode !== 'waits') agent.mode = 'works';
        return;
      case 'PAUSE_AGENT':
        agent.pausedUntil = now + order.payload.forMs;
        return this.#answer(order, 'done');
      case 'RESUME_AGENT':
        agent.pausedUntil = 0;
        return this.#answer(order, 'done');
      case 'RESET_BREAKER':
        return this.#answer(order, 'done');
      case 'TERMINATE_AGENT':
        agent.terminatedBy = order.payload.orderId;
        return this.#deps.after(5000, () => this.#terminate(order, agent));
    }
  }

  /** The agent stops because of a handoff request. */
  #leave(agent: Agent, orderId: string) {
    if (agent.end !== null || agent.mode === 'waits') return;
    agent.checkpoint = `${agent.instanceId}-handed-off`;
    this.end(agent, 'explicit', orderId);
  }

  #terminate(order: AgentOrder, agent: Agent) {
    if (!this.isSupervised) return;
    if (!agent.manners.dies && agent.end === null) {
      agent.terminatedBy = null;
      return this.#answer(order, 'failed', { why: 'it does not die' });
    }
    if (isByPerson(agent.end)) return this.#answer(order, 'superseded', { why: 'a person has stopped it' });
    const isOurs = agent.end === null;
    this.end(agent, 'explicit', order.payload.orderId);
    this.#answer(order, 'done', { confirmed: true, forced: isOurs });
  }

  #carryThrough(order: Order) {
    const agent = this.agents.findLast(({ agentId }) => agentId === order.payload.agentId);
    if (order.type === 'SPAWN_AGENT' || agent === undefined) return;
    if (order.type === 'TERMINATE_AGENT') this.#perform(order, agent);
    else this.#answer(order, 'uncertain', { why: 'begun by a supervisor that was killed' });
  }

  #answer(
    order: AgentOrder,
    ...[outcome, more]: readonly [Parameters<typeof receiptOf>[2], Parameters<typeof receiptOf>[3]?]
  ) {
    const payload = receiptOf(order, this.#deps.now(), outcome, { ...noEnd, ...more });
    this.#settle(order, { topic: Topic.orderReceipt, type: 'ORDER_RECEIPT', key: payload.agentId, payload } as Draft);
  }

  #settle(order: Order, receipt: Draft) {
    const { orderId } = order.payload;
    const wasBegun = this.#begun.delete(orderId);
    this.#waiting.delete(orderId);
    this.#receipts.set(orderId, receipt);
    this.#report(receipt, () => {
      this.#receipts.delete(orderId);
      if (wasBegun) this.#begun.set(orderId, order);
    });
  }

  #considerSpawn(order: SpawnOrder, expiresAt: number) {
    const { orderId } = order.payload;
    const known = this.#receipts.get(orderId);
    if (known) return this.#settle(order, known);
    if (this.#deps.now() > expiresAt) return this.#answerSpawn(order, 'expired');
    if (!this.hasRoomOnDisk) return;
    if (this.living.length >= this.capacity) return this.#answerSpawn(order, 'failed', 'all places are taken');
    if (this.living.some(({ agentId }) => agentId === order.payload.agentId))
      return this.#answerSpawn(order, 'not_needed');
    if (this.failingSpawns > 0) {
      this.failingSpawns -= 1;
      return this.#answerSpawn(order, 'failed', 'the command does not start');
    }
    this.#deps.begins(this, order);
    this.#deps.spawn(this, order);
    this.#answerSpawn(order, 'spawned');
  }

  #answerSpawn(order: SpawnOrder, outcome: Parameters<typeof spawnReceiptOf>[2], why: string | null = null) {
    const payload = spawnReceiptOf(order, this.#deps.now(), outcome, { why });
    this.#settle(order, { topic: Topic.spawnReceipt, type: 'SPAWN_RECEIPT', key: payload.taskId, payload } as Draft);
  }
}

export const orderIn = ({ topic, type, payload }: HealthEvent): Order | null =>
  topic === Topic.agentOrder ? ({ type, payload } as Order) : null;
