import type { Draft, HealthEvent } from '@vigil/events';

/**
 * The time of a partition, moved by records only (docs: time is a record).
 * `now`: the broker's clock, epoch milliseconds. It goes backwards only where a broker's clock that was ahead is
 * corrected.
 * `watched`: how much of it was watched; monotonic, never faster than `now`. Absence is a difference of two `watched`.
 * `ingresses`: the same for each further ingress (`gateway:a`, and `gateway` for all of them). Its agents are absent
 * only while it is open.
 */
export type Clock = {
  readonly now: number;
  readonly watched: number;
  readonly ingresses: Readonly<Record<string, number>>;
};

/** The deadline of a rule that awaits nothing or lacks data. */
export const NEVER: number = Number.POSITIVE_INFINITY;

/**
 * A pure rule over one key's state. The runner calls it after every input, and when a tick has passed `dueAt`. Its
 * laws, tested by `laws(decider)`: it emits an event once, decides nothing before `dueAt`, has plain data as state, and
 * is deterministic.
 */
export type Decider<State, Input extends HealthEvent, Output extends Draft> = {
  readonly initial: State;
  /** Records an input. Never judges. */
  readonly observe: (state: State, input: Input, clock: Clock) => State;
  /**
   * The decisions at this moment. `input`: the input observed just before; null: a deadline. A command is answered here
   * and leaves nothing in the state.
   */
  readonly decide: (state: State, clock: Clock, input: Input | null) => readonly Output[];
  /** The state after an event of the same decision, with the same clock and input. Without an input, `decide` then emits nothing new. */
  readonly evolve: (state: State, event: Output, clock: Clock, input: Input | null) => State;
  /** The next time at which `decide` may emit an event, on `now`'s axis, or NEVER. */
  readonly dueAt: (state: State, clock: Clock) => number;
  /**
   * The next moment to decide because of the input between two states, on `now`'s axis. Called after `observe`, while
   * the `dueAt` of the state before is still ahead. If both are ahead, nothing is decided, and `decide` never gets this
   * input. Omitted: at once.
   */
  readonly wakesAt?: (before: State, after: State, clock: Clock) => number;
  /**
   * Called at `dueAt`, after `decide`: whether the state can be dropped. Its key then starts again, with a new epoch.
   */
  readonly forgets?: (state: State, clock: Clock) => boolean;
};
