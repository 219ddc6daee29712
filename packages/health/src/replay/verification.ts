import { Topic } from '@vigil/events';
import { positionOf } from '@vigil/stream';
import type { Observation } from '../evaluator/health.ts';
import type { Decided } from './decided.ts';
import { firstDifference } from './first-difference.ts';
import { Folds } from './folds.ts';
import type { Mark } from './partition-replay.ts';
import { isWithin, type ReplayReader, type ReplaySource, type Span } from './source.ts';

/**
 * The first decision of an agent that differs. `position`: of the observation or tick that caused it now, as
 * topic/partition/offset; null if nothing was decided now. `recorded` null: it is only decided now; `decided` null: it
 * is only recorded.
 */
export type Difference = {
  readonly agent: string;
  /** epoch milliseconds */
  readonly at: number;
  readonly position: string | null;
  readonly recorded: Decided | null;
  readonly decided: Decided | null;
  readonly reason: string;
};

/** The outcome of a verification. `agents`: with decisions that were compared. */
export type Verified = {
  readonly observations: number;
  readonly decisions: number;
  readonly agents: number;
  /** agents that are not compared: they were known before the first record, so that their state is not known */
  readonly earlier: readonly string[];
  /** decisions that were not compared: the evaluator had not committed them when the reading began */
  readonly newer: number;
  /** observations that cannot be read */
  readonly unreadable: number;
  /** the first of each agent, in the order of time */
  readonly differences: readonly Difference[];
};

type Placed = { readonly text: string; readonly position: string };

const numberOf = ({ stateKey, epoch, version }: Decided): string => `${stateKey} ${epoch} ${version}`;

/** Folds observations again and compares each decision with the recorded one. */
class Verification implements ReplayReader {
  readonly #span: Span;
  readonly #folds: Folds;
  /** by agent and number, as JSON: it is smaller than an object, and two are compared at once */
  readonly #recorded = new Map<string, string>();
  readonly #onlyNow = new Map<string, Placed>();
  readonly #earlier = new Set<string>();
  readonly #complete = new Map<number, number>();
  readonly #agents = new Set<string>();
  readonly #differences = new Map<string, Difference>();
  #observations = 0;
  #decisions = 0;
  #newer = 0;
  #unreadable = 0;

  constructor({ span, documents }: ReplaySource) {
    this.#span = span;
    this.#folds = new Folds((rules) => documents.policiesOf(rules));
  }

  readonly rules: ReplayReader['rules'] = (...mark) => this.#folds.rules(...mark);
  readonly clock: ReplayReader['clock'] = (...start) => this.#folds.clock(...start);
  readonly agent: ReplayReader['agent'] = (...known) => this.#folds.agent(...known);
  readonly earlier: ReplayReader['earlier'] = (agent) => void this.#earlier.add(agent);
  readonly complete: ReplayReader['complete'] = (...end) => void this.#complete.set(...end);

  decided(decision: Decided): void {
    if (isWithin(this.#span, decision.occurredAt)) this.#recorded.set(numberOf(decision), JSON.stringify(decision));
  }

  record(partition: number, mark: Mark, input: Observation | null): void {
    if (input !== null) this.#observations += 1;
    for (const decision of this.#folds.record(partition, mark, input)) this.#compare(decision, partition, mark);
  }

  unreadable(): void {
    this.#unreadable += 1;
  }

  #compare(decision: Decided, partition: number, { offset }: Mark): void {
    const agent = decision.stateKey;
    if (!isWithin(this.#span, decision.occurredAt) || this.#isLeftOut(agent)) return;
    this.#agents.add(agent);
    const number = numberOf(decision);
    const recorded = this.#recorded.get(number);
    const [text, position] = [
      JSON.stringify(decision),
      positionOf({ topic: Topic.agentObservation, partition, offset }),
    ];
    this.#recorded.delete(number);
    if (recorded === text) this.#decisions += 1;
    else if (recorded === undefined && offset >= (this.#complete.get(partition) ?? Infinity)) this.#newer += 1;
    else if (recorded === undefined) this.#onlyNow.set(number, { text, position });
    else {
      const before = JSON.parse(recorded) as Decided;
      const reason = firstDifference(before, decision) ?? 'the fields are in another order';
      this.#differ({ agent, at: decision.occurredAt, position, recorded: before, decided: decision, reason });
    }
  }

  /** Of an agent that differs only the first difference counts: everything after it follows from another state. */
  #isLeftOut(agent: string): boolean {
    return this.#earlier.has(agent) || (this.#span.agent !== null && agent !== this.#span.agent);
  }

  #differ(difference: Difference): void {
    const known = this.#differences.get(difference.agent);
    if (known === undefined || difference.at < known.at) this.#differences.set(difference.agent, difference);
  }

  result(): Verified {
    for (const { text, position } of this.#onlyNow.values()) {
      const decided = JSON.parse(text) as Decided;
      const { stateKey: agent, occurredAt: at } = decided;
      const reason = `${decided.type} is decided now, and is not recorded`;
      this.#differ({ agent, at, position, recorded: null, decided, reason });
    }
    for (const text of this.#recorded.values()) {
      const recorded = JSON.parse(text) as Decided;
      const { stateKey: agent, occurredAt: at } = recorded;
      if (this.#isLeftOut(agent)) continue;
      const reason = `${recorded.type} is recorded, and is not decided now`;
      this.#differ({ agent, at, position: null, recorded, decided: null, reason });
    }
    return {
      observations: this.#observations,
      decisions: this.#decisions,
      agents: this.#agents.size,
      earlier: [...this.#earlier].toSorted(),
      newer: this.#newer,
      unreadable: this.#unreadable,
      differences: inOrder([...this.#differences.values()]),
    };
  }
}

const inOrder = (differences: readonly Difference[]): readonly Difference[] =>
  differences.toSorted((a, b) => a.at - b.at || (a.agent < b.agent ? -1 : 1));

/** The verification of a log, from those of its parts. */
export const joined = (parts: readonly Verified[]): Verified => {
  const sum = (of: (one: Verified) => number): number => parts.reduce((before, one) => before + of(one), 0);
  return {
    observations: sum(({ observations }) => observations),
    decisions: sum(({ decisions }) => decisions),
    agents: sum(({ agents }) => agents),
    earlier: parts.flatMap(({ earlier }) => earlier).toSorted(),
    newer: sum(({ newer }) => newer),
    unreadable: sum(({ unreadable }) => unreadable),
    differences: inOrder(parts.flatMap(({ differences }) => differences)),
  };
};

/**
 * Folds the observations of a source through this version's code and the recorded policies, and compares every event
 * with the recorded one. Correlation ids are not compared.
 */
export const verify = async (source: ReplaySource, signal: AbortSignal): Promise<Verified> => {
  const verification = new Verification(source);
  await source.read(verification, signal);
  return verification.result();
};
