import type { Draft, HealthEvent } from '@vigil/events';

/**
 * The time of a partition, moved by records only (docs: time is a record).
 * `now`: the broker's clock, epoch milliseconds; never backwards, but where a broker's clock that was ahead is mended.
 * `watched`: how much of it somebody was watching; monotone, never faster than `now`. Absence is a difference of two `watched`.
 * `doors`: the same for each further way in (`gateway:a`, and `gateway` for all of them): absent only in time in which that door was open.
 */
export type Clock = {
  readonly now: number;
  readonly watched: number;
  readonly ingresses: Readonly<Record<string, number>>;
};

/** The moment that never comes: what a deadline is where nothing is awaited or data is missing. */
export const NEVER: number = Number.POSITIVE_INFINITY;

/**
 * A pure rule over one key's state. The runner asks it after every input, and at `dueAt` when a tick has passed it.
 * Laws (tested by `laws(decider)`): it says a thing once; nothing is decided before `dueAt`; its state is plain data; it is deterministic.
 */
export type Decider<State, Input extends HealthEvent, Output extends Draft> = {
  readonly initial: State;
  /** What we are told. Never judges. */
  readonly observe: (state: State, input: Input, clock: Clock) => State;
  /**
   * What follows from the state at this moment. `input`: what was observed just before; null: a deadline. A command is answered here and
   * leaves nothing in the state.
   */
  readonly decide: (state: State, clock: Clock, input: Input | null) => readonly Output[];
  /** The state after an event of the same decision, with the same clock and input. Without an input, `decide` then emits nothing new. */
  readonly evolve: (state: State, event: Output, clock: Clock, input: Input | null) => State;
  /** The next moment worth asking, on `now`'s axis, or NEVER. */
  readonly dueAt: (state: State, clock: Clock) => number;
  /**
   * The next moment worth asking because of what was told between two states, on `now`'s axis: asked after `observe`, while what
   * `dueAt` gave for the state before lies ahead. Where both do, nothing is decided, and `decide` never gets this input. Left out: at once.
   */
  readonly wakesAt?: (before: State, after: State, clock: Clock) => number;
  /** Asked at `dueAt`, after `decide`: whether nothing of it is worth keeping. Its key begins anew, with a new epoch. */
  readonly forgets?: (state: State, clock: Clock) => boolean;
};
