import type { Draft, HealthEvent } from '@vigil/events';
import type { Order } from '../../packages/supervisor/src/orders/order.ts';
import { type Agent, born, type Manners } from './agents.ts';
import { Facts } from './facts.ts';
import { HEARTBEAT_MS, Host, orderIn } from './hosts.ts';
import type { Log } from './log.ts';
import type { PolicyName } from './policies.ts';
import { vigil } from './vigil.ts';

export const START = 1_795_305_600_000;

/** A law, checked at every event and at every time at which anything happened. It throws if the law is broken. */
export type Law = {
  readonly name: string;
  /** before the facts include the event */
  readonly onEvent?: (event: HealthEvent, simulation: Simulation) => void;
  readonly onMoment?: (simulation: Simulation) => void;
  /** an order is executed */
  readonly onBegun?: (order: Order, simulation: Simulation) => void;
  /** at the end, when everything is repaired and people have answered all questions */
  readonly onEnd?: (simulation: Simulation) => void;
};

export class Broken extends Error {
  override readonly name = 'Broken';
  constructor(law: string, what: string, at: number) {
    super(`${law}: ${what} (${clockText(at)})`);
  }
}

export const clockText = (at: number): string => {
  const seconds = Math.round((at - START) / 1000);
  return `at ${Math.floor(seconds / 60)} min ${seconds % 60} s`;
};

type Action = { readonly at: number; readonly act: () => void };

/** Vigil, three hosts and people, in virtual time. The same calls give the same story. */
export class Simulation {
  now = START;
  readonly facts = new Facts();
  readonly log: Log;
  readonly hosts: readonly Host[];
  readonly policy: PolicyName;
  /** the traits of agents that are started from now on */
  manners: Manners = { answers: true, leaves: true, dies: true };
  /** when the last stall of a reader ends */
  lastStallAt = START;
  readonly recorded: string[] = [];
  readonly #laws: readonly Law[];
  readonly #actions: Action[] = [];
  #heartbeatsAt = START;
  #born = 0;

  constructor(policy: PolicyName, laws: readonly Law[]) {
    this.policy = policy;
    this.#laws = laws;
    const deps = {
      now: () => this.now,
      after: (ms: number, act: () => void) => void this.#actions.push({ at: this.now + ms, act }),
      write: (draft: Draft) => this.log.write(draft),
      spawn: (host: Host, { payload: { agentId, taskId, attempt } }: Spawn) =>
        host.start(this.#newborn(agentId, taskId ?? agentId, attempt, true), policy),
      begins: (_: Host, order: Order) => {
        for (const law of laws) law.onBegun?.(order, this);
      },
    };
    this.hosts = ['h1', 'h2', 'h3'].map((name) => new Host(name, deps));
    this.log = vigil(policy, START, (event) => this.#onEvent(event));
    for (const host of this.hosts) host.announce();
  }

  get agents(): readonly Agent[] {
    return this.hosts.flatMap(({ agents }) => agents);
  }

  get living(): readonly Agent[] {
    return this.agents.filter(({ end }) => end === null);
  }

  hostOf(agent: Agent): Host {
    return this.hosts.find(({ agents }) => agents.includes(agent)) as Host;
  }

  /** A person starts an agent. */
  start(host: Host, agentId: string, taskId: string): void {
    host.start(this.#newborn(agentId, taskId, null, false), this.policy);
  }

  pass(ms: number): void {
    const until = this.now + ms;
    while (this.now < until) {
      const first = Math.min(
        ...this.#actions.map(({ at }) => at),
        this.log.dueAt,
        this.#heartbeatsAt + HEARTBEAT_MS,
        until,
      );
      this.now = Math.max(first, this.now);
      this.log.passTo(this.now);
      for (const due of this.#actions.filter(({ at }) => at <= this.now)) {
        this.#actions.splice(this.#actions.indexOf(due), 1);
        due.act();
      }
      if (this.now >= this.#heartbeatsAt + HEARTBEAT_MS) this.#heartbeat();
      this.check();
    }
  }

  /** A reader of the log stalls. */
  stall(reader: number, ms: number): void {
    const unit = this.log.units[reader % this.log.units.length];
    if (unit === undefined) return;
    unit.stalledUntil = this.now + ms;
    this.lastStallAt = Math.max(this.lastStallAt, unit.stalledUntil);
  }

  check(): void {
    for (const law of this.#laws) law.onMoment?.(this);
  }

  end(): void {
    for (const law of this.#laws) law.onEnd?.(this);
  }

  #heartbeat(): void {
    this.#heartbeatsAt = this.now;
    for (const host of this.hosts) host.heartbeat(this.policy);
  }

  #newborn(agentId: string, taskId: string, attempt: number | null, byVigil: boolean): Agent {
    this.#born += 1;
    return born(this.#born, { agentId, taskId, attempt, byVigil, startedAt: this.now }, this.manners);
  }

  #onEvent(event: HealthEvent): void {
    for (const law of this.#laws) law.onEvent?.(event, this);
    this.facts.observe(event, this.now);
    if (event.type === 'FLEET_HALTED') for (const host of this.hosts) host.isHalted = true;
    if (event.type === 'FLEET_RESUMED') for (const host of this.hosts) host.isHalted = false;
    const order = orderIn(event);
    if (order === null) return;
    const host = this.hosts.find(({ runtimeId }) => runtimeId === order.payload.runtimeId);
    host?.offer(order, order.payload.ttlMs);
  }
}

type Spawn = Extract<Order, { readonly type: 'SPAWN_AGENT' }>;
