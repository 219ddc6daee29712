import type { OutRecord } from '../log/log.ts';
import type { Fold } from './fold.ts';
import type { AnyDecider, AnyProcessor, AnyRules } from './topology.ts';

type Marker = NonNullable<AnyDecider['marker']>;

type MarkPosition = {
  readonly partition: number;
  readonly positions: ReadonlyMap<string, number>;
  readonly now: number;
};

const markerOf = (processor: AnyProcessor): Marker | undefined =>
  'marker' in processor ? processor.marker : undefined;

/** The rules for all later records, and the positions of the inputs from which they apply. */
const ruleMark = ({ topic, key }: Marker, { value }: AnyRules, at: MarkPosition): OutRecord => {
  const from = Object.fromEntries(at.positions);
  const mark = Buffer.from(JSON.stringify({ rules: value, from }));
  return { topic, partition: at.partition, key, value: mark, timestamp: at.now };
};

/** The key in the snapshot that names the version and rules by which deadlines were computed. */
export const RULES_KEY = '@rules';

/** The basis of the deadlines. `rules` null: the processor has no rules that change. */
const valueFor = (version: string, rules: AnyRules | null): string =>
  JSON.stringify({ version, rules: rules?.value ?? null });

/**
 * Switches a partition to the rules in force, and to another version of the code. The snapshot names the basis of its
 * deadlines. If the basis has changed, the deadlines are computed again, one slice a batch. Until all are done, the
 * snapshot names no basis, so that a process that restores it starts again. States written in the meantime follow the
 * new rules, and later rules must not mistake them for old ones.
 */
export class RuleSwitch {
  readonly #processor: AnyProcessor;
  readonly #version: string;
  #rules: AnyRules | null = null;
  #hasBegun = false;
  /** the basis that the snapshot names; null if it names none */
  #written: string | null = null;

  constructor(processor: AnyProcessor, version: string) {
    this.#processor = processor;
    this.#version = version;
  }

  restore(value: Buffer | null): void {
    this.#written = value?.toString() ?? null;
  }

  /** Called before a batch is folded. Returns the marks that precede all output of the batch. */
  switchRules(fold: Fold, at: MarkPosition): readonly OutRecord[] {
    const marker = markerOf(this.#processor);
    const rules = marker?.rules() ?? null;
    if (this.#hasBegun && rules === this.#rules) {
      fold.rearmNext();
      return [];
    }
    this.#hasBegun = true;
    this.#rules = rules;
    if (rules !== null) fold.useRules(rules);
    if (this.#written !== this.#value) fold.rearm();
    return marker === undefined || rules === null ? [] : [ruleMark(marker, rules, at)];
  }

  /** Called after a batch. Returns the basis to write to the snapshot: null for none, undefined for no change. */
  toWrite(fold: Fold): Buffer | null | undefined {
    const value = fold.isStale ? null : this.#value;
    if (!('decider' in this.#processor) || value === this.#written) return undefined;
    this.#written = value;
    return value === null ? null : Buffer.from(value);
  }

  get #value(): string {
    return valueFor(this.#version, this.#rules);
  }
}
