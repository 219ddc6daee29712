import { type Clock, DeadLetter, Deadlines } from '@vigil/stream';
import { type AgentHealth, agentHealth, type Observation, type Said } from './health.ts';
import { OlderInstance } from './observe.ts';
import type { Policies } from './policies.ts';
import { type AgentState, UNSEEN } from './state.ts';

/** A record of the one order of observations: what was told, or only that time passed (a tick). */
export type Recorded = { readonly clock: Clock; readonly input: Observation | null };
/** What was said at it; the reason where the record is a dead letter. */
export type Evaluated = Recorded & { readonly said: readonly Said[]; readonly refused: string | null };

/** Folds records of one partition as the evaluator does, without Kafka: the same records give the same decisions. `states` is changed. */
export function* evaluate(
  policies: Policies,
  records: Iterable<Recorded>,
  states: Map<string, AgentState> = new Map(),
): Generator<Evaluated> {
  const folding = new Folding(policies, states);
  for (const record of records) yield folding.fold(record);
}

/** The fold of one partition, record by record. `states` is changed. */
export class Folding {
  readonly #decider: AgentHealth;
  readonly #states: Map<string, AgentState>;
  readonly #deadlines = new Deadlines();

  constructor(policies: Policies, states: Map<string, AgentState>) {
    this.#decider = agentHealth(policies);
    this.#states = states;
    for (const key of states.keys()) this.#deadlines.arm(key, 0);
  }

  /** Nothing is said by a tick before this moment. */
  get dueAt(): number {
    return this.#deadlines.next;
  }

  fold({ clock, input }: Recorded): Evaluated {
    if (input === null) return { clock, input, said: this.#tick(clock), refused: null };
    const told = tell(() => this.#decider.observe(this.#states.get(input.key) ?? UNSEEN, input, clock));
    const said = told.state === null ? [] : this.#say(input.key, told.state, clock);
    return { clock, input, said, refused: told.refused };
  }

  #say(key: string, state: AgentState, clock: Clock): readonly Said[] {
    const said = this.#decider.decide(state, clock);
    const after = said.reduce(this.#decider.evolve, state);
    if (this.#decider.forgets(after, clock)) {
      this.#states.delete(key);
      this.#deadlines.disarm(key);
    } else {
      this.#states.set(key, after);
      this.#deadlines.arm(key, this.#decider.dueAt(after, clock));
    }
    return said;
  }

  /** In the order in which the runner asks: moment, then key. As there, what is armed is a lower bound: watched time may have stood still since. */
  #tick(clock: Clock): readonly Said[] {
    const due: { readonly key: string; readonly at: number }[] = [];
    for (const key of this.#deadlines.take(clock.now)) {
      const at = this.#decider.dueAt(this.#states.get(key) ?? UNSEEN, clock);
      if (at <= clock.now) due.push({ key, at });
      else this.#deadlines.arm(key, at);
    }
    due.sort((a, b) => a.at - b.at || (a.key < b.key ? -1 : 1));
    return due.flatMap(({ key }) => this.#say(key, this.#states.get(key) ?? UNSEEN, clock));
  }
}

function tell(observe: () => AgentState): { readonly state: AgentState | null; readonly refused: string | null } {
  try {
    return { state: observe(), refused: null };
  } catch (error) {
    if (!(error instanceof DeadLetter)) throw error;
    return { state: error instanceof OlderInstance ? error.state : null, refused: error.reason };
  }
}
