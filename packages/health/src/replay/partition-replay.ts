import { Topic } from '@vigil/events';
import { type ClockState, type LogRecord, PartitionTime, readAtRest, shapeOf, sparse } from '@vigil/stream';
import { AT_REST } from '../evaluator/at-rest.ts';
import { Folding } from '../evaluator/evaluate.ts';
import { type Explanation, explain } from '../evaluator/explain.ts';
import type { Announcement, Observation } from '../evaluator/health.ts';
import type { AgentState } from '../evaluator/state.ts';
import type { Policies } from '../judgement/policies.ts';
import { type Decided, type Numbered, refoldedDecision } from './decided.ts';

const PROCESSOR = 'health-evaluator';

/** The state of an agent at a position, as text, and the number of its last event. */
export type StoredAgent = {
  readonly key: string;
  readonly shape: number;
  readonly state: string;
  readonly version: number;
  readonly epoch: number;
};

/** The part of a record that a replay reads besides its content. */
export type Mark = Pick<LogRecord, 'offset' | 'key' | 'value' | 'timestamp'>;

type Change = { readonly from: number; readonly rules: string };

type Count = { version: number; readonly epoch: number };

/**
 * Folds the observations of one partition again, as the evaluator does: its time, its rules and the numbers of its
 * events. The same records give the same events. Updates itself; reads no clock.
 */
export class PartitionReplay {
  readonly #partition: number;
  readonly #policiesOf: (rules: string) => Policies;
  #time = new PartitionTime(null);
  #folding: Folding | null = null;
  #restored: [string, AgentState][] = [];
  readonly #counts = new Map<string, Count>();
  readonly #changes: Change[] = [];
  #next = 0;
  #rules: string | null = null;

  /** `policiesOf`: the policies of a mark of rules. */
  constructor(partition: number, policiesOf: (rules: string) => Policies) {
    this.#partition = partition;
    this.#policiesOf = policiesOf;
  }

  /** The records from this offset on are judged by these rules. To be called in the order of the marks. */
  changeRules(from: number, rules: string): void {
    this.#changes.push({ from, rules });
  }

  /** The clock before the first record. */
  startAt(clock: Partial<ClockState>): void {
    this.#time = new PartitionTime(clock);
  }

  /** An agent before the first record. Throws if a newer version of Vigil wrote its state. */
  restore({ key, shape, state, version, epoch }: StoredAgent): void {
    if (shape > shapeOf(AT_REST) || shape < AT_REST.oldest)
      throw new Error(
        `the state of ${key} has shape ${shape}, and this version reads ${AT_REST.oldest} to ${shapeOf(AT_REST)}`,
      );
    this.#restored.push([key, readAtRest(AT_REST, shape, state)]);
    this.#counts.set(key, { version, epoch });
  }

  get clock(): ClockState {
    return this.#time.stored;
  }

  get now(): number {
    return this.#time.stored.now;
  }

  /** The rules in force; null before the first record. */
  get rules(): string | null {
    return this.#rules;
  }

  *agents(): Iterable<StoredAgent> {
    const { write } = sparse(AT_REST.usual);
    for (const [key, state] of this.#folding?.states() ?? this.#restored) {
      const { version, epoch } = this.#counts.get(key) ?? { version: 0, epoch: 0 };
      yield { key, shape: shapeOf(AT_REST), state: write(state), version, epoch };
    }
  }

  /** The present decision about an agent, with its signals; null if nothing has been received about it. */
  explain(agent: string): Explanation | null {
    if (this.#folding === null || this.#rules === null) return null;
    return explain(this.#policiesOf(this.#rules), this.#folding.stateOf(agent), this.#time.time);
  }

  /** Applies a record. `input` null: a mark of the runner, or a record that only moves the time. */
  apply(mark: Mark, input: Observation | null): readonly Decided[] {
    const folding = this.#foldingAt(mark.offset);
    const before = this.now;
    const kind = this.#time.apply(mark);
    const clock = this.#time.time;
    if (clock.now < before) folding.rearm(clock);
    if (kind !== 'tick' && input === null) return NOTHING;
    const isNew = input !== null && folding.stateOf(input.key).kind === 'unseen';
    const { emitted } = folding.fold({ clock, input });
    if (isNew && folding.stateOf(input.key).kind === 'known')
      this.#counts.set(input.key, { version: 0, epoch: clock.now });
    return emitted.length === 0 ? NOTHING : this.#numbered(emitted, mark, input);
  }

  #foldingAt(offset: number): Folding {
    let changed: string | null = null;
    for (; this.#next < this.#changes.length; this.#next += 1) {
      const { from, rules } = this.#changes[this.#next] as Change;
      if (from > offset) break;
      changed = rules;
    }
    // The first mark may be younger than the first record.
    const rules = changed ?? this.#rules ?? this.#changes[0]?.rules ?? null;
    if (this.#folding !== null && rules === this.#rules) return this.#folding;
    if (rules === null) throw new NoRules(this.#partition);
    this.#rules = rules;
    const policies = this.#policiesOf(rules);
    if (this.#folding === null) this.#folding = new Folding(policies, this.#restored);
    else this.#folding.usePolicies(policies, this.#time.time);
    this.#restored = [];
    return this.#folding;
  }

  #numbered(emitted: readonly Announcement[], { offset }: Mark, input: Observation | null): readonly Decided[] {
    const ordinals = new Map<string, number>();
    return emitted.map((draft) => {
      const agent = draft.payload.agentId ?? draft.key;
      const count = this.#counts.get(agent) ?? { version: 0, epoch: this.now };
      this.#counts.set(agent, count);
      count.version += 1;
      const ordinal = ordinals.get(agent) ?? 0;
      ordinals.set(agent, ordinal + 1);
      const numbered: Numbered = { ...count, ordinal };
      const cause = { topic: Topic.agentObservation, partition: this.#partition, offset, input, now: this.now };
      return refoldedDecision(PROCESSOR, draft, agent, numbered, cause);
    });
  }
}

const NOTHING: readonly Decided[] = [];

/** Nothing recorded names the policies of a partition. */
export class NoRules extends Error {
  override readonly name = 'NoRules';
  constructor(partition: number) {
    super(
      `nothing recorded names the policies of partition ${partition}: the evaluator writes them as @policy into ${Topic.agentHealth}, so it has not run on this log`,
    );
  }
}
