import type { Observation } from '../evaluator/health.ts';
import { Folds } from './folds.ts';
import type { Mark } from './partition-replay.ts';
import { isWithin, type ReplayReader, type ReplaySource } from './source.ts';

/** The figures of a signal, one for each time of `Figures.at`; null: it had none. */
export type SignalFigures = {
  readonly signal: string;
  /** whether figures and limit are milliseconds */
  readonly isDuration: boolean;
  /** the last one; null: the signal has none */
  readonly limit: number | null;
  readonly values: readonly (number | null)[];
};

/** What the signals of an agent showed. `at`: epoch milliseconds of the broker, in order. */
export type Figures = {
  readonly observations: number;
  /** The agent was known before the first stored record, so figures that count from its beginning are too small. */
  readonly isEarlier: boolean;
  readonly at: readonly number[];
  readonly signals: readonly SignalFigures[];
};

type Column = { isDuration: boolean; limit: number | null; readonly values: (number | null)[] };

/** Folds the records of one agent, and keeps what its signals show every `everyMs` of the span. */
class FiguresReader implements ReplayReader {
  readonly #source: ReplaySource;
  readonly #agent: string;
  readonly #everyMs: number;
  readonly #folds: Folds;
  readonly #at: number[] = [];
  readonly #columns = new Map<string, Column>();
  #observations = 0;
  #isEarlier = false;

  constructor(source: ReplaySource, agent: string, everyMs: number) {
    this.#source = source;
    this.#agent = agent;
    this.#everyMs = everyMs;
    this.#folds = new Folds((rules) => source.documents.policiesOf(rules));
  }

  readonly rules: ReplayReader['rules'] = (...change) => this.#folds.rules(...change);
  readonly clock: ReplayReader['clock'] = (...start) => this.#folds.clock(...start);
  readonly agent: ReplayReader['agent'] = (...known) => this.#folds.agent(...known);
  readonly decided = (): void => {};
  readonly complete = (): void => {};
  readonly unreadable = (): void => {};

  readonly earlier = (agent: string): void => {
    if (agent === this.#agent) this.#isEarlier = true;
  };

  record(partition: number, mark: Mark, given: Observation | null): void {
    const input = given?.key === this.#agent ? given : null;
    if (input !== null) this.#observations += 1;
    this.#folds.record(partition, mark, input);
    this.#sample(partition);
  }

  #sample(partition: number): void {
    const fold = this.#folds.of(partition);
    const last = this.#at.at(-1);
    if (!isWithin(this.#source.span, fold.now) || (last !== undefined && fold.now - last < this.#everyMs)) return;
    const explained = fold.explain(this.#agent);
    // An agent that has ended is not silent.
    if (explained === null || explained.state === 'TERMINATED') return;
    const { signals } = explained;
    this.#at.push(fold.now);
    for (const { signal, isDuration, limit, value } of signals) {
      const known = this.#columns.get(signal);
      const column = known ?? { isDuration, limit, values: [] };
      if (known === undefined) this.#columns.set(signal, column);
      column.limit = limit;
      // A signal of another policy has no figure before it.
      while (column.values.length < this.#at.length - 1) column.values.push(null);
      column.values.push(value);
    }
  }

  result(): Figures {
    const signals = [...this.#columns].map(([signal, { values, ...column }]) => ({
      ...{ signal, ...column },
      values: this.#at.map((_, index) => values[index] ?? null),
    }));
    return { observations: this.#observations, isEarlier: this.#isEarlier, at: this.#at, signals };
  }
}

/**
 * Folds the observations of one agent under the recorded policies. Returns the figure of each signal in the span, at
 * most one every `everyMs` milliseconds. Throws UnknownRules or NoRules.
 */
export const figuresOf = async (
  source: ReplaySource,
  agent: string,
  everyMs: number,
  signal: AbortSignal,
): Promise<Figures> => {
  const reader = new FiguresReader(source, agent, everyMs);
  await source.read(reader, signal);
  return reader.result();
};
