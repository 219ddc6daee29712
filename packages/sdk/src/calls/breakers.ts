import {
  ask,
  type Breaker,
  type BreakerLimits,
  BreakerOpen,
  closed,
  fail,
  giveBack,
  type Meaning,
  reset,
  succeed,
} from '@vigil/circuit-breaker';
import type { BreakerReport } from '@vigil/events';
import type { KnownCallKind } from '../report/fields.ts';

/** The breakers that the agent's process keeps. */
export type BreakerName = 'tool_execution' | 'external_api' | 'checkpoint_write';
export type Limits = Readonly<Record<BreakerName, BreakerLimits>>;

/** The limits of the agent lifecycle standard (section 7): in force until a policy sets others. */
export const usualLimits: Limits = {
  tool_execution: { failureThreshold: 5, recoveryTimeoutMs: 30_000, halfOpenRequests: 1 },
  external_api: { failureThreshold: 3, recoveryTimeoutMs: 60_000, halfOpenRequests: 1 },
  checkpoint_write: { failureThreshold: 3, recoveryTimeoutMs: 120_000, halfOpenRequests: 1 },
};

const breakerOf: Readonly<Record<KnownCallKind, BreakerName | null>> = {
  tool: 'tool_execution',
  external_api: 'external_api',
  checkpoint_write: 'checkpoint_write',
  // An agent without its model cannot do anything else, and its client retries by itself.
  model: null,
};

/** Called once, when the call has ended. */
export type Ended = (meaning: Meaning) => void;

/** One breaker for each kind of call. */
export class Breakers {
  readonly #held = new Map<BreakerName, Breaker>();
  readonly #now: () => number;
  readonly #onChange: () => void;
  #limits: Limits = usualLimits;

  /** `onChange`: a breaker has opened, closed, or lets a trial through */
  constructor(now: () => number, onChange: () => void) {
    this.#now = now;
    this.#onChange = onChange;
  }

  /** Throws BreakerOpen. */
  begin(kind: KnownCallKind): Ended {
    const name = breakerOf[kind];
    if (name === null) return () => {};
    const answer = ask(this.#of(name), this.#limits[name], this.#now());
    if (answer.kind === 'refused') throw new BreakerOpen(name, answer.nextAttemptAt);
    this.#keep(name, answer.breaker);
    return (meaning) => this.#keep(name, this.#after(name, answer.generation, meaning));
  }

  reset(name: string): void {
    for (const held of this.#held.keys()) if (held === name) this.#keep(held, reset(this.#of(held)));
  }

  follow(limits: Limits): void {
    this.#limits = limits;
  }

  /** The breakers that have been used. */
  reports(): readonly BreakerReport[] {
    return [...this.#held].map(([name, breaker]) => ({
      name,
      state: breaker.state,
      failures: breaker.failures,
      next_attempt_at: breaker.state === 'OPEN' ? breaker.nextAttemptAt : null,
    }));
  }

  #of(name: BreakerName): Breaker {
    return this.#held.get(name) ?? closed;
  }

  #keep(name: BreakerName, breaker: Breaker): void {
    const changed = this.#of(name).state !== breaker.state;
    this.#held.set(name, breaker);
    if (changed) this.#onChange();
  }

  #after(name: BreakerName, generation: number, meaning: Meaning): Breaker {
    const breaker = this.#of(name);
    switch (meaning) {
      case 'failure':
        return fail(breaker, generation, this.#limits[name], this.#now());
      case 'success':
        return succeed(breaker, generation);
      case 'nothing':
        return giveBack(breaker, generation);
    }
  }
}
