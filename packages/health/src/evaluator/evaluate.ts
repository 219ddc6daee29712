import { type Armed, type Clock, DeadLetter, Deadlines, NEVER } from '@vigil/stream';
import type { Policies } from '../judgement/policies.ts';
import { type AgentHealth, type Announcement, agentHealth, type Observation } from './health.ts';
import { OlderInstance } from './observe.ts';
import { type AgentState, UNSEEN } from './state.ts';

/** A record of the topic of observations: an input, or a tick. */
export type Recorded = { readonly clock: Clock; readonly input: Observation | null };
/** The events of a record; `refused`: the reason if the record is a dead letter. */
export type Evaluated = Recorded & { readonly emitted: readonly Announcement[]; readonly refused: string | null };

/**
 * Folds records of one partition as the evaluator does, without Kafka. The same records give the same decisions.
 * Updates `states` at the end.
 */
export function* evaluate(
  policies: Policies,
  records: Iterable<Recorded>,
  states: Map<string, AgentState> = new Map(),
): Generator<Evaluated> {
  const folding = new Folding(policies, states);
  try {
    for (const record of records) yield folding.fold(record);
  } finally {
    states.clear();
    for (const [key, state] of folding.states()) states.set(key, state);
  }
}

/** One agent: its state, and the time of its next evaluation. */
type Agent = Armed & { readonly key: string; state: AgentState };

/** The fold of one partition, record by record. */
export class Folding {
  #decider: AgentHealth;
  readonly #agents = new Map<string, Agent>();
  readonly #deadlines = new Deadlines<Agent>();

  constructor(policies: Policies, states: Iterable<readonly [string, AgentState]> = []) {
    this.#decider = agentHealth(policies);
    for (const [key, state] of states) this.#deadlines.arm(this.#begun(key, state), 0);
  }

  /** Uses other policies for all later records. The deadlines are computed again, because they may be too late. */
  usePolicies(policies: Policies, clock: Clock): void {
    this.#decider = agentHealth(policies);
    this.rearm(clock);
  }

  /** Computes the deadlines again. Required after the clock is set back: they are then too late. */
  rearm(clock: Clock): void {
    for (const agent of this.#agents.values())
      if (agent.state.kind === 'known') this.#deadlines.arm(agent, this.#decider.dueAt(agent.state, clock));
  }

  /** No tick before this time leads to an event. */
  get dueAt(): number {
    return this.#deadlines.next;
  }

  stateOf(key: string): AgentState {
    return this.#agents.get(key)?.state ?? UNSEEN;
  }

  *states(): Iterable<readonly [string, AgentState]> {
    for (const { key, state } of this.#agents.values()) if (state.kind === 'known') yield [key, state];
  }

  fold({ clock, input }: Recorded): Evaluated {
    if (input === null) return { clock, input, emitted: this.#tick(clock), refused: null };
    const agent = this.#agents.get(input.key) ?? this.#begun(input.key, UNSEEN);
    const before = agent.state;
    const refused = this.#observe(agent, input, clock);
    if (refused === ACCEPTED && this.#defer(agent, before, clock))
      return { clock, input, emitted: NOTHING, refused: null };
    const emitted = refused.kept ? this.#decide(agent, clock) : NOTHING;
    return { clock, input, emitted, refused: refused.reason };
  }

  #begun(key: string, state: AgentState): Agent {
    const agent = { key, state, armedAt: NEVER };
    this.#agents.set(key, agent);
    return agent;
  }

  #observe(agent: Agent, input: Observation, clock: Clock): Refusal {
    try {
      agent.state = this.#decider.observe(agent.state, input, clock);
      return ACCEPTED;
    } catch (error) {
      if (!(error instanceof DeadLetter)) throw error;
      if (error instanceof OlderInstance) agent.state = error.state;
      return { reason: error.reason, kept: error instanceof OlderInstance };
    }
  }

  /** Defers a routine input, as the runner does. */
  #defer(agent: Agent, before: AgentState, clock: Clock): boolean {
    if (agent.armedAt <= clock.now) return false;
    const at = this.#decider.wakesAt(before, agent.state, clock);
    if (at <= clock.now) return false;
    this.#deadlines.arm(agent, at);
    return true;
  }

  #decide(agent: Agent, clock: Clock): readonly Announcement[] {
    const emitted = this.#decider.decide(agent.state, clock);
    for (const event of emitted) agent.state = this.#decider.evolve(agent.state, event);
    this.#deadlines.arm(agent, this.#decider.dueAt(agent.state, clock));
    return emitted;
  }

  /** As in the runner, only a deadline forgets an agent. */
  #emit(agent: Agent, clock: Clock): readonly Announcement[] {
    const emitted = this.#decide(agent, clock);
    if (this.#decider.forgets(agent.state, clock)) {
      this.#agents.delete(agent.key);
      this.#deadlines.disarm(agent);
    }
    return emitted;
  }

  /**
   * Fires deadlines in the runner's order: by time, then key. An armed time is a lower bound, because watched time may
   * have stood still since.
   */
  #tick(clock: Clock): readonly Announcement[] {
    const taken = this.#deadlines.take(clock.now);
    if (taken.length === 0) return NOTHING;
    const due: { readonly agent: Agent; readonly at: number }[] = [];
    for (const agent of taken) {
      const at = this.#decider.dueAt(agent.state, clock);
      if (at <= clock.now) due.push({ agent, at });
      else this.#deadlines.arm(agent, at);
    }
    due.sort((a, b) => a.at - b.at || (a.agent.key < b.agent.key ? -1 : 1));
    return due.flatMap(({ agent }) => this.#emit(agent, clock));
  }
}

/** Why a record is a dead letter; null if it is not. `kept`: whether the agent's state counts it. */
type Refusal = { readonly reason: string | null; readonly kept: boolean };
const ACCEPTED: Refusal = { reason: null, kept: true };
const NOTHING: readonly Announcement[] = [];
