import type { Observation } from '../evaluator/health.ts';
import type { Policies } from '../judgement/policies.ts';
import type { Decided } from './decided.ts';
import { type Mark, PartitionReplay } from './partition-replay.ts';
import type { ReplayReader } from './source.ts';

/** The folds of all partitions under one set of policies: the parts of a reader that they need. */
export class Folds implements Pick<ReplayReader, 'rules' | 'clock' | 'agent'> {
  readonly #policiesOf: (rules: string) => Policies;
  readonly #partitions: PartitionReplay[] = [];

  constructor(policiesOf: (rules: string) => Policies) {
    this.#policiesOf = policiesOf;
  }

  of(partition: number): PartitionReplay {
    const known = this.#partitions[partition];
    if (known !== undefined) return known;
    const fresh = new PartitionReplay(partition, this.#policiesOf);
    this.#partitions[partition] = fresh;
    return fresh;
  }

  readonly rules: ReplayReader['rules'] = (partition, from, rules) => this.of(partition).changeRules(from, rules);
  readonly clock: ReplayReader['clock'] = (partition, clock) => this.of(partition).startAt(clock);
  readonly agent: ReplayReader['agent'] = (partition, agent) => this.of(partition).restore(agent);

  record(partition: number, mark: Mark, input: Observation | null): readonly Decided[] {
    return this.of(partition).apply(mark, input);
  }
}
