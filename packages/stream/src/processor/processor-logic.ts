import type { Codec, Draft } from '@vigil/events';
import type { Unwelcome } from '../errors.ts';
import { eventOf, receivedAt } from '../log/inputs.ts';
import type { LogRecord, OutRecord } from '../log/log.ts';
import type { Count } from '../metrics.ts';
import { Store } from '../state/store.ts';
import { traceparentOf } from '../tracing/traceparent.ts';
import type { Clock } from './decider.ts';
import { encodeDraft, type RecordEncoding } from './record-encoding.ts';
import type { AnyDecider, AnyMapper } from './topology.ts';

/**
 * The number of deadlines that one transaction decides. All agents of a fleet may fall silent at once, and one
 * transaction for them would take longer than a broker waits.
 */
export const DUE_AT_ONCE = 1000;

/** `sources`: the partitions of the agent and task key spaces. */
export type FoldDeps = {
  readonly codec: Codec;
  readonly partition: number;
  readonly partitions: (topic: string) => number;
  readonly sources: number;
  readonly count: Count;
  /** receives the decided events, before they are committed */
  readonly onDecided?: ((drafts: readonly Draft[]) => void) | undefined;
};

/** The decisions of a processor, without time, dead letters and misplaced keys. */
export type ProcessorLogic = {
  readonly store: Store<unknown>;
  /**
   * Applies a record and returns the outputs. Changes nothing if it throws. `refuse` makes the dead letter of a record
   * that is used in part.
   */
  readonly on: (
    record: LogRecord,
    clock: Clock,
    refuse: (error: Unwelcome) => readonly OutRecord[],
  ) => readonly OutRecord[];
  /**
   * The first DUE_AT_ONCE deadlines due at a tick, in the order (moment, key). Call it again with the same tick while
   * `hasMoreDue`. `refuse` makes the dead letter of a state whose deadline threw.
   */
  readonly deadlines: (
    tick: LogRecord,
    clock: Clock,
    refuse: (state: LogRecord, error: unknown) => readonly OutRecord[],
  ) => readonly OutRecord[];
  /** Whether deadlines of the present tick have not been decided yet. */
  readonly hasMoreDue: boolean;
  /**
   * Computes the deadlines of these keys again, so that they stay lower bounds. Skips a key that was forgotten in the
   * meantime.
   */
  readonly rearm: (keys: readonly string[], at: Clock) => void;
  /** Called once, after the states are read from the snapshot. */
  readonly restored: (at: Clock) => void;
  /** Replaces the decider. The stored deadlines do not change. */
  readonly useDecider: (decider: AnyDecider['decider']) => void;
};

type Named = { readonly subject: string; readonly content: string };
type Written = { readonly content: string; readonly at: number };

/** What was written of each subject, the least recent first. */
class WrittenOnce {
  readonly #bySubject = new Map<string, Written>();
  readonly #againAfterMs: number;
  readonly #most: number;

  constructor({ againAfterMs, most }: NonNullable<AnyMapper['once']>) {
    this.#againAfterMs = againAfterMs;
    this.#most = most;
  }

  has({ subject, content }: Named, at: number): boolean {
    const last = this.#bySubject.get(subject);
    return last?.content === content && at - last.at < this.#againAfterMs;
  }

  /** A subject that is repeated is as recent as one that is written. */
  remember(named: Named, at: number): void {
    const { subject, content } = named;
    const last = this.has(named, at) ? this.#bySubject.get(subject) : undefined;
    this.#bySubject.delete(subject);
    this.#bySubject.set(subject, last ?? { content, at });
    const [oldest] = this.#bySubject.keys();
    if (this.#bySubject.size > this.#most && oldest !== undefined) this.#bySubject.delete(oldest);
  }
}

/** Maps each record to its outputs. Its memory of what was written is that of a task: an aborted transaction ends both. */
export class MapperLogic implements ProcessorLogic {
  readonly store = new Store<unknown>({ oldest: 0, upgrades: [], usual: null });
  readonly hasMoreDue = false;
  readonly #processor: AnyMapper;
  readonly #deps: FoldDeps;
  readonly #encoding: RecordEncoding;
  readonly #written: WrittenOnce | null;

  constructor(processor: AnyMapper, deps: FoldDeps, encoding: RecordEncoding) {
    this.#processor = processor;
    this.#deps = deps;
    this.#encoding = encoding;
    this.#written = processor.once === undefined ? null : new WrittenOnce(processor.once);
  }

  on(record: LogRecord, clock: Clock): readonly OutRecord[] {
    const input = eventOf(record, this.#deps.codec, this.#processor.decode);
    const stamp = receivedAt(record);
    const { correlationId } = input;
    const traceparent = traceparentOf(record.headers);
    const drafts = this.#processor.map(input, clock.now, stamp);
    const named = drafts.map((draft) => this.#processor.once?.of(draft) ?? null);
    const outs = drafts.flatMap((draft, ordinal) => {
      const name = named[ordinal] ?? null;
      if (name !== null && this.#written?.has(name, stamp)) return [];
      const numbers = { stateKey: null, version: null, epoch: null, ordinal };
      const about = { ...numbers, at: stamp, now: clock.now, correlationId, traceparent };
      return [encodeDraft(this.#encoding, draft, { record, input }, about)];
    });
    for (const name of named) if (name !== null) this.#written?.remember(name, stamp);
    this.#deps.count('events_written', outs.length, { processor: this.#processor.processor });
    return outs;
  }

  deadlines(): readonly OutRecord[] {
    return [];
  }

  rearm(): void {}

  restored(): void {}

  useDecider(): void {}
}
