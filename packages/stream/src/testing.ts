import { isDeepStrictEqual } from 'node:util';
import type { Draft, HealthEvent } from '@vigil/events';
import fc from 'fast-check';
import { silentLogger } from './logger.ts';
import { type Clock, type Decider, NEVER } from './processor/decider.ts';
import type { ProcessorOptions } from './processor/run-processor.ts';
import { type AtRest, readAtRest, shapeOf } from './state/at-rest.ts';

export { readAtRest, shapeOf };

/** Options of a runner for a test that does not read log lines and counts. */
export const quiet: Pick<ProcessorOptions, 'logger' | 'count'> = { logger: silentLogger, count: () => {} };

/** A state of an older shape, in the present one. */
export const upgraded = <State>(atRest: AtRest<State>, shape: number, state: unknown): State =>
  readAtRest(atRest, shape, JSON.stringify(state));

/** A clock for tests: all time is watched, unless `rest` sets it. */
export const clockAt = (now: number, rest: Partial<Omit<Clock, 'now'>> = {}): Clock => ({
  now,
  watched: rest.watched ?? now,
  ingresses: rest.ingresses ?? {},
});

/** Decides as the runner does: emitted events are evolved. */
const decideAndEvolve = <State, Input extends HealthEvent, Output extends Draft>(
  decider: Decider<State, Input, Output>,
  state: State,
  clock: Clock,
  input: Input | null,
): { readonly state: State; readonly emitted: readonly Output[] } => {
  const emitted = decider.decide(state, clock, input);
  return { state: emitted.reduce((before, event) => decider.evolve(before, event, clock, input), state), emitted };
};

/**
 * One key of a decider, driven by a test. Every call returns the events that it emitted; `at` is `now`, epoch
 * milliseconds.
 */
export type Driver<State, Input extends HealthEvent, Output extends Draft> = {
  readonly state: () => State;
  readonly all: () => readonly Output[];
  readonly receive: (input: Input, at?: number | Clock) => readonly Output[];
  /** Receives these at once, as a transaction does: the state comes back from its snapshot only after the last one. */
  readonly receiveAll: (inputs: readonly Input[]) => readonly Output[];
  /** Lets time pass as ticks would, one a second: deadlines on the way fire, with everything watched. */
  readonly passTo: (at: number) => readonly Output[];
  /** Lets time pass unwatched: `now` moves, `watched` does not. */
  readonly unwatched: (ms: number) => void;
  readonly clock: () => Clock;
};

const TICK_MS = 1000;

/**
 * Given a decider at a moment, let it `receive` inputs and let time pass, then check what it emitted. Throws if the
 * decider breaks a law.
 */
export const given = <State, Input extends HealthEvent, Output extends Draft>(
  decider: Decider<State, Input, Output>,
  start: number | Clock = 1_795_305_600_000,
  initial: State = decider.initial,
): Driver<State, Input, Output> => {
  let clock: Clock = typeof start === 'number' ? clockAt(start) : start;
  let state = initial;
  const all: Output[] = [];
  const emit = (input: Input | null) => {
    const decided = decideAndEvolve(decider, state, clock, input);
    state = plain(decided.state);
    all.push(...decided.emitted);
    return decided.emitted;
  };
  const move = (ms: number, watchedMs: number) => {
    const ingresses = Object.fromEntries(
      Object.entries(clock.ingresses).map(([ingress, at]) => [ingress, at + watchedMs]),
    );
    clock = { now: clock.now + ms, watched: clock.watched + watchedMs, ingresses };
  };
  const passTo = (at: number) => {
    const emitted: Output[] = [];
    while (clock.now < at) {
      move(Math.min(TICK_MS, at - clock.now), Math.min(TICK_MS, at - clock.now));
      if (decider.dueAt(state, clock) <= clock.now) emitted.push(...emit(null));
    }
    return emitted;
  };
  const receive = (input: Input, at: number | Clock = clock) => {
    if (typeof at === 'number') passTo(at);
    else clock = at;
    state = plain(decider.observe(state, input, clock));
    return emit(input);
  };
  const receiveAll = (inputs: readonly Input[]) => {
    const emitted: Output[] = [];
    let current = state;
    for (const input of inputs) {
      const decided = decideAndEvolve(decider, decider.observe(current, input, clock), clock, input);
      current = decided.state;
      emitted.push(...decided.emitted);
    }
    state = plain(current);
    all.push(...emitted);
    return emitted;
  };
  return {
    state: () => state,
    all: () => all,
    receive,
    receiveAll,
    passTo,
    unwatched: (ms) => move(ms, 0),
    clock: () => clock,
  };
};

/** A state as it comes back from the snapshot. */
const plain = <State>(state: State): State => JSON.parse(JSON.stringify(state)) as State;

type Step<Input> = { readonly input: Input | null; readonly ms: number; readonly watched: boolean };

const same = (left: unknown, right: unknown, law: string, about: unknown): void => {
  if (!isDeepStrictEqual(left, right))
    throw new Error(`${law}: ${JSON.stringify(left)} and ${JSON.stringify(right)} differ, at ${JSON.stringify(about)}`);
};

const checkMoment = <State, Input extends HealthEvent, Output extends Draft>(
  decider: Decider<State, Input, Output>,
  state: State,
  clock: Clock,
  input: Input | null,
): State => {
  const before = plain(state);
  const decided = (from: State) => decider.decide(from, clock, input);
  same(decided(state), decided(state), 'it is deterministic', state);
  same(plain(state), state, 'its state is plain data', state);
  same(decided(plain(state)), decided(state), 'a restored state decides the same', state);
  const after = decideAndEvolve(decider, state, clock, input);
  same(before, state, 'it never changes a state that it was given', after.emitted);
  same(decider.decide(after.state, clock, null), [], 'it emits an event once', after.emitted);
  same(plain(after.state), after.state, 'its state is plain data', after.state);
  const dueAt = decider.dueAt(after.state, clock);
  if (Number.isNaN(dueAt)) throw new Error(`its deadlines are moments: NaN for ${JSON.stringify(after.state)}`);
  return after.state;
};

/** The clock after another `ms` milliseconds of watched time. */
const later = ({ now, watched, ingresses }: Clock, ms: number): Clock => ({
  now: now + ms,
  watched: watched + ms,
  ingresses: Object.fromEntries(Object.entries(ingresses).map(([ingress, at]) => [ingress, at + ms])),
});

const DAY_MS = 86_400_000;

/** Checks that nothing is emitted just before `until`, half-way to it, and at each moment of `others` before it. */
const checkSilent = <State, Input extends HealthEvent, Output extends Draft>(
  decider: Decider<State, Input, Output>,
  state: State,
  clock: Clock,
  until: number,
  law: string,
  others: readonly number[] = [],
): void => {
  const last = until === NEVER ? clock.now + DAY_MS : until - 1;
  for (const now of [clock.now + Math.floor((last - clock.now) / 2), last, ...others]) {
    if (now <= clock.now || now > last) continue;
    const then = later(clock, now - clock.now);
    same(decider.decide(state, then, null), [], law, { state, clock, until, now });
  }
};

/**
 * The laws of deciders, over random inputs and times, some unwatched. It emits an event once. Nothing is decided before
 * `dueAt`, or before an input wakes it. Its state is plain data and decides the same after a restore. It never changes
 * a state that it was given, because the runner keeps those. It is deterministic. Throws with the smallest example that
 * breaks a law.
 */
export const laws = <State, Input extends HealthEvent, Output extends Draft>(
  decider: Decider<State, Input, Output>,
  inputs: fc.Arbitrary<Input>,
  { runs = 200, start = 1_795_305_600_000 }: { readonly runs?: number; readonly start?: number } = {},
): void => {
  const step: fc.Arbitrary<Step<Input>> = fc.record({
    input: fc.option<Input, null>(inputs, { freq: 3, nil: null }),
    ms: fc.oneof(fc.integer({ min: 0, max: 5000 }), fc.integer({ min: 0, max: 1_200_000 })),
    watched: fc.boolean(),
  });
  const holds = (steps: readonly Step<Input>[]) => {
    let state = decider.initial;
    let clock = clockAt(start, { ingresses: { gateway: start } });
    let armed = start;
    for (const { input, ms, watched } of steps) {
      const by = watched ? ms : 0;
      clock = {
        now: clock.now + ms,
        watched: clock.watched + by,
        ingresses: { gateway: (clock.ingresses.gateway ?? 0) + by },
      };
      if (input !== null) {
        const before = plain(state);
        const observed = decider.observe(state, input, clock);
        same(before, state, 'it never changes a state that it was given', input);
        same(decider.observe(state, input, clock), observed, 'it is deterministic', input);
        const wakesAt = Math.min(armed, decider.wakesAt?.(state, observed, clock) ?? clock.now);
        if (wakesAt > clock.now) {
          const law = 'nothing is decided before an input wakes it';
          same(decider.decide(observed, clock, input), [], law, { observed, clock, wakesAt });
          checkSilent(decider, observed, clock, wakesAt, law, [decider.dueAt(observed, clock)]);
        }
        state = observed;
        armed = wakesAt;
      }
      if (input !== null || decider.dueAt(state, clock) <= clock.now) state = checkMoment(decider, state, clock, input);
      if (armed <= clock.now) armed = decider.dueAt(state, clock);
      checkSilent(decider, state, clock, decider.dueAt(state, clock), 'nothing is decided before dueAt');
    }
  };
  fc.assert(fc.property(fc.array(step, { maxLength: 20 }), holds), { numRuns: runs, includeErrorInReport: true });
};
