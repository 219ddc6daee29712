import type { Draft, HealthEvent } from '@vigil/events';
import { type Clock, DeadLetter, NEVER, Unwelcome } from '@vigil/stream';

/** A processor as the log runs it: its declaration without its types. */
export type AnyProcessor = {
  readonly processor: string;
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  readonly time: { readonly sources: 'own' | 'every'; readonly everyMs?: number } | null;
  readonly stateKey?: (input: never) => string;
  readonly decider?: AnyDecider;
  readonly map?: (input: never, now: number, receivedAt: number) => readonly Draft[];
};
type AnyDecider = {
  readonly initial: unknown;
  readonly observe: (state: never, input: never, clock: Clock) => unknown;
  readonly decide: (state: never, clock: Clock, input: never) => readonly Draft[];
  readonly evolve: (state: never, draft: never, clock: Clock, input: never) => unknown;
  readonly dueAt: (state: never, clock: Clock) => number;
  readonly wakesAt?: (before: never, after: never, clock: Clock) => number;
  readonly forgets?: (state: never, clock: Clock) => boolean;
};

/** The runner's state of a key; see packages/stream. */
type Entry = { state: unknown; dueAt: number; lastInputAt: number; correlationId: string };
type Recorded = { readonly event: HealthEvent; readonly at: number };

const TICK_MS = 1000;

/** One processor with its states. While it is stalled it reads nothing, and its time stands still. */
export class Unit {
  readonly name: string;
  readonly entries = new Map<string, Entry>();
  readonly processor: AnyProcessor;
  readonly tickMs: number;
  readonly inbox: Recorded[] = [];
  stalledUntil = 0;
  time: number;

  constructor(processor: AnyProcessor, now: number) {
    this.name = processor.processor;
    this.processor = processor;
    this.tickMs = processor.time?.everyMs ?? TICK_MS;
    this.time = now;
  }

  /** The next tick at which a deadline has passed. */
  get dueAt(): number {
    let first: number = NEVER;
    for (const { dueAt } of this.entries.values()) first = Math.min(first, dueAt);
    const next = (Math.floor(this.time / this.tickMs) + 1) * this.tickMs;
    return Math.max(Math.ceil(first / this.tickMs) * this.tickMs, next);
  }

  /** Restarts: the states are read from the snapshot. */
  restart() {
    for (const entry of this.entries.values()) entry.state = JSON.parse(JSON.stringify(entry.state));
  }

  clockAt(now: number): Clock {
    const at = this.processor.time?.sources === 'every' ? Math.floor(now / this.tickMs) * this.tickMs : now;
    return { now: at, watched: at, ingresses: {} };
  }
}

/**
 * The log and all its readers in one thread, in virtual time: a record is read at once, in order, unless its reader is
 * stalled.
 */
export class Log {
  now: number;
  readonly units: readonly Unit[];
  readonly letters: string[] = [];
  readonly #onEvent: (event: HealthEvent) => void;
  readonly #queue: HealthEvent[] = [];
  #written = 0;
  #isPumping = false;

  constructor(processors: readonly AnyProcessor[], now: number, onEvent: (event: HealthEvent) => void) {
    this.now = now;
    this.units = processors.map((processor) => new Unit(processor, now));
    this.#onEvent = onEvent;
  }

  unit(name: string): Unit {
    return this.units.find((unit) => unit.name === name) as Unit;
  }

  /** Writes records from outside, or of a processor whose time is `at`. */
  write(draft: Draft, at = this.now, correlationId = '') {
    this.#written += 1;
    const eventId = `e${this.#written}`;
    const event = {
      ...{ eventId, stateKey: null, version: null, epoch: null, causationId: null, occurredAt: at },
      ...draft,
      correlationId: draft.correlationId || correlationId || eventId,
      policy: draft.policy ?? null,
    } as HealthEvent;
    this.#queue.push(event);
    if (!this.#isPumping) this.#pump();
  }

  /** The next time at which a processor has work. */
  get dueAt(): number {
    return Math.min(...this.units.map((unit) => (unit.stalledUntil > this.now ? unit.stalledUntil : unit.dueAt)));
  }

  passTo(now: number) {
    this.now = now;
    for (const unit of this.units) {
      if (unit.stalledUntil > now) continue;
      while (unit.inbox.length > 0) this.#read(unit, unit.inbox.shift() as Recorded);
      this.#tickTo(unit, now);
      this.#pump();
    }
  }

  #pump() {
    this.#isPumping = true;
    for (let event = this.#queue.shift(); event; event = this.#queue.shift()) {
      this.#onEvent(event);
      for (const unit of this.units) {
        if (!unit.processor.reads.includes(event.topic)) continue;
        const recorded = { event, at: this.now };
        if (unit.stalledUntil > this.now || unit.inbox.length > 0) unit.inbox.push(recorded);
        else this.#read(unit, recorded);
      }
    }
    this.#isPumping = false;
  }

  #tickTo(unit: Unit, now: number) {
    for (let at = unit.dueAt; at <= now; at = unit.dueAt) {
      unit.time = at;
      const due = [...unit.entries].filter(([, entry]) => entry.dueAt <= at);
      for (const [key, entry] of due.sort(([, a], [, b]) => a.dueAt - b.dueAt)) this.#onDeadline(unit, key, entry, at);
    }
    unit.time = now;
  }

  #onDeadline(unit: Unit, key: string, entry: Entry, at: number) {
    const decider = unit.processor.decider as AnyDecider;
    const clock = unit.clockAt(at);
    entry.dueAt = decider.dueAt(entry.state as never, clock);
    if (entry.dueAt > at) return;
    this.#decide(unit, decider, entry, clock, null);
    if (decider.forgets?.(entry.state as never, clock)) unit.entries.delete(key);
  }

  #read(unit: Unit, { event, at }: Recorded) {
    this.#tickTo(unit, at);
    try {
      if (unit.processor.map) this.#map(unit, event, at);
      else this.#deliver(unit, event, at);
    } catch (error) {
      if (!(error instanceof DeadLetter)) throw error;
      this.letters.push(`${unit.name}: ${error.message}`);
    }
  }

  #map(unit: Unit, event: HealthEvent, at: number) {
    for (const draft of unit.processor.map?.(event as never, at, at) ?? []) this.write(draft, at, event.correlationId);
  }

  #deliver(unit: Unit, event: HealthEvent, at: number) {
    const decider = unit.processor.decider as AnyDecider;
    const key = unit.processor.stateKey?.(event as never) ?? event.key;
    const clock = unit.clockAt(at);
    const known = unit.entries.get(key);
    const entry = known ?? { state: decider.initial, dueAt: NEVER, lastInputAt: 0, correlationId: '' };
    const before = entry.state;
    let refused: Unwelcome | null = null;
    try {
      entry.state = decider.observe(before as never, event as never, clock);
    } catch (error) {
      if (!(error instanceof Unwelcome) || error.state === undefined) throw error;
      refused = error;
      entry.state = error.state;
    }
    entry.lastInputAt = Math.max(entry.lastInputAt, at);
    entry.correlationId = event.correlationId;
    unit.entries.set(key, entry);
    const wakesAt = decider.wakesAt?.(before as never, entry.state as never, clock) ?? clock.now;
    const next = known && !refused ? Math.min(entry.dueAt, wakesAt) : clock.now;
    if (next > clock.now) entry.dueAt = next;
    else this.#decide(unit, decider, entry, clock, event);
    if (refused) throw refused;
  }

  #decide(unit: Unit, decider: AnyDecider, entry: Entry, clock: Clock, input: HealthEvent | null) {
    const drafts = decider.decide(entry.state as never, clock, input as never);
    const evolved = (state: unknown, draft: Draft) =>
      decider.evolve(state as never, draft as never, clock, input as never);
    entry.state = drafts.reduce(evolved, entry.state);
    entry.dueAt = decider.dueAt(entry.state as never, clock);
    for (const draft of drafts) {
      if (!unit.processor.writes.includes(draft.topic)) throw new Error(`${unit.name} does not declare ${draft.topic}`);
      this.write(draft, Math.max(clock.now, entry.lastInputAt), entry.correlationId);
    }
  }
}
