import type { Draft, HealthEvent } from '@vigil/events';
import { Unwelcome } from '../errors.ts';
import { eventOf, happenedAt } from '../log/inputs.ts';
import type { LogRecord, OutRecord } from '../log/log.ts';
import { type Entry, Store } from '../state/store.ts';
import { TraceMemory } from '../tracing/trace-memory.ts';
import { traceparentOf } from '../tracing/traceparent.ts';
import { type Clock, NEVER } from './decider.ts';
import { DUE_AT_ONCE, type FoldDeps, type ProcessorLogic } from './processor-logic.ts';
import { type Cause, encodeDraft, hasEnvelope, type RecordEncoding } from './record-encoding.ts';
import type { AnyDecider } from './topology.ts';

/** How long a key is skipped after its deadline threw, milliseconds. */
const POSTPONED_MS = 3_600_000;

type Due = { readonly key: string; readonly at: number };

/** Records and deadlines of one key at a time, by a pure rule over its state. */
export class DeciderLogic implements ProcessorLogic {
  readonly store: Store<unknown>;
  readonly #processor: AnyDecider;
  readonly #deps: FoldDeps;
  readonly #encoding: RecordEncoding;
  readonly #traces = new TraceMemory();
  #decider: AnyDecider['decider'];
  /** what is due at the present tick and not decided yet, in the order (moment, key) */
  #due: readonly Due[] = [];

  constructor(processor: AnyDecider, deps: FoldDeps, encoding: RecordEncoding) {
    this.#processor = processor;
    this.#deps = deps;
    this.#encoding = encoding;
    this.#decider = processor.decider;
    this.store = new Store(processor.atRest);
  }

  on(record: LogRecord, clock: Clock, refuse: (error: Unwelcome) => readonly OutRecord[]): readonly OutRecord[] {
    const { stateKey } = this.#processor;
    const input = eventOf(record, this.#deps.codec);
    const key = stateKey === undefined ? input.key : stateKey(input);
    const traceparent = traceparentOf(record.headers);
    if (traceparent !== undefined) this.#traces.remember(key, input.correlationId, traceparent);
    const known = this.store.get(key);
    const entry = known ?? this.#newEntry(clock);
    const { observed, refused } = this.#observe(entry.state, input, clock);
    if (known === undefined) this.#checkRoom(key, observed);
    const updated = {
      ...entry,
      state: observed,
      // An input that changes nothing is not written.
      lastInputAt:
        observed === entry.state ? entry.lastInputAt : Math.max(entry.lastInputAt, happenedAt(record, input)),
      correlationId: input.correlationId,
    };
    const next =
      refused === undefined && known !== undefined ? this.#nextEvaluation(known, observed, clock) : clock.now;
    if (next > clock.now) {
      this.#put(key, known?.state, { ...updated, dueAt: next }, clock);
      return [];
    }
    const { outs, after } = this.#decide(key, updated, { record, input }, clock);
    if (known !== undefined || outs.length > 0 || !isInitial(this.#decider.initial, observed))
      this.#put(key, known?.state, after, clock);
    return refused === undefined ? outs : [...refuse(refused), ...outs];
  }

  /** Throws Unwelcome if a state of this key would be one too many. An input that changes nothing needs no room. */
  #checkRoom(key: string, observed: unknown): void {
    const { keyLimit, processor } = this.#processor;
    if (keyLimit === undefined || this.store.size < keyLimit.most || isInitial(this.#decider.initial, observed)) return;
    this.#deps.count('keys_refused', 1, { processor });
    throw new Unwelcome(
      'too_many_keys',
      `the partition has ${this.store.size} keys and takes at most ${keyLimit.most}, so ${key} is not judged: ${keyLimit.remedy}`,
    );
  }

  /** The time of the next decision after an input; `now` means at once. */
  #nextEvaluation(known: Entry<unknown>, observed: unknown, clock: Clock): number {
    const wakesAt = this.#decider.wakesAt?.(known.state, observed, clock) ?? clock.now;
    return Math.min(known.dueAt, wakesAt);
  }

  #observe(
    state: unknown,
    input: HealthEvent,
    clock: Clock,
  ): { readonly observed: unknown; readonly refused?: Unwelcome } {
    try {
      return { observed: this.#decider.observe(state, input, clock) };
    } catch (error) {
      if (!(error instanceof Unwelcome) || error.state === undefined) throw error;
      return { observed: error.state, refused: error };
    }
  }

  deadlines(
    tick: LogRecord,
    clock: Clock,
    refuse: (state: LogRecord, error: unknown) => readonly OutRecord[],
  ): readonly OutRecord[] {
    const outs: OutRecord[] = [];
    const guarded = <T>(key: string, evaluate: () => T): T | undefined => {
      try {
        return evaluate();
      } catch (error) {
        outs.push(...refuse(this.#asRecord(key, tick), error));
        this.#postpone(key, clock);
        return undefined;
      }
    };
    if (!this.hasMoreDue) {
      const found = this.store.due(clock.now).flatMap((key): readonly Due[] => {
        const at = guarded(key, () => this.#currentDueAt(key, clock));
        return at !== undefined && at <= clock.now ? [{ key, at }] : [];
      });
      this.#due = found.sort((a, b) => a.at - b.at || (a.key < b.key ? -1 : 1));
    }
    const due = this.#due.slice(0, DUE_AT_ONCE);
    this.#due = this.#due.slice(DUE_AT_ONCE);
    for (const { key } of due) outs.push(...(guarded(key, () => this.#onDeadline(key, tick, clock)) ?? []));
    const { processor } = this.#processor;
    this.#deps.count('deadlines_fired', due.length, { processor });
    for (const { at } of due) this.#deps.count('deadline_lateness_seconds', (clock.now - at) / 1000, { processor });
    return outs;
  }

  get hasMoreDue(): boolean {
    return this.#due.length > 0;
  }

  restored(at: Clock): void {
    this.#govern(at);
  }

  useDecider(decider: AnyDecider['decider']): void {
    this.#decider = decider;
  }

  #put(key: string, before: unknown, after: Entry<unknown>, clock: Clock): void {
    this.store.put(key, after);
    if (key === this.#processor.governing?.key && after.state !== before) this.#govern(clock);
  }

  /** Uses the rule of the governing key for all later records. Stored deadlines may be too late under it. */
  #govern(at: Clock): void {
    const { governing } = this.#processor;
    if (governing === undefined) return;
    this.#decider = governing.ruleOf(this.store.get(governing.key)?.state);
    this.rearm(this.store.keys(), at);
  }

  rearm(keys: readonly string[], at: Clock): void {
    for (const key of keys) if (this.store.has(key)) this.store.advance(key, this.#dueUnder(this.#decider, key, at));
  }

  /** A deadline that throws is due at once, so that the next tick writes its dead letter. */
  #dueUnder(decider: AnyDecider['decider'], key: string, clock: Clock): number {
    try {
      return decider.dueAt(this.#entry(key).state, clock);
    } catch {
      return clock.now;
    }
  }

  /**
   * Computes the deadline again. The stored one is a lower bound, because watched time may have stood still since. One
   * that is too early is rearmed.
   */
  #currentDueAt(key: string, clock: Clock): number {
    const at = this.#decider.dueAt(this.#entry(key).state, clock);
    if (at > clock.now) this.store.rearm(key, at);
    return at;
  }

  #onDeadline(key: string, tick: LogRecord, clock: Clock): readonly OutRecord[] {
    const before = this.#entry(key);
    const { outs, after } = this.#decide(key, before, { record: tick, input: null }, clock);
    if (this.#decider.forgets?.(after.state, clock)) {
      this.store.forget(key);
      this.#traces.forget(key);
    } else this.#put(key, before.state, after, clock);
    return outs;
  }

  /** Decides once, then evolves the emitted events. Nothing is stored until all of it has succeeded. */
  #decide(key: string, entry: Entry<unknown>, cause: Cause, clock: Clock) {
    const decider = this.#decider;
    const drafts = decider.decide(entry.state, clock, cause.input);
    let version = entry.version;
    const outs = drafts.map((draft, ordinal) => {
      if (hasEnvelope(draft.topic)) version += 1;
      const { epoch, correlationId } = entry;
      return encodeDraft(this.#encoding, draft, cause, {
        stateKey: key,
        version,
        epoch,
        ordinal,
        at: Math.max(clock.now, entry.lastInputAt),
        now: clock.now,
        correlationId,
        traceparent:
          traceparentOf(cause.record.headers) ?? this.#traces.traceOf(key, draft.correlationId ?? correlationId),
      });
    });
    const evolved = (before: unknown, draft: Draft) => decider.evolve(before, draft, clock, cause.input);
    const state = drafts.reduce(evolved, entry.state);
    const after = { ...entry, state, version, dueAt: decider.dueAt(state, clock) };
    this.#deps.count('events_written', drafts.length, { processor: this.#processor.processor });
    this.#deps.onDecided?.(drafts);
    return { outs, after };
  }

  #newEntry(clock: Clock): Entry<unknown> {
    return {
      state: this.#decider.initial,
      dueAt: NEVER,
      version: 0,
      epoch: clock.now,
      lastInputAt: 0,
      correlationId: '',
    };
  }

  #entry(key: string): Entry<unknown> {
    return this.store.get(key) as Entry<unknown>;
  }

  #postpone(key: string, clock: Clock): void {
    this.store.push(key, clock.now + POSTPONED_MS);
  }

  /** A state as the record for its dead letter. */
  #asRecord(key: string, tick: LogRecord): LogRecord {
    return { ...tick, key, value: this.store.bytes(key) };
  }
}

const isInitial = (initial: unknown, state: unknown): boolean => JSON.stringify(initial) === JSON.stringify(state);
