import { ask, type Breaker, type BreakerLimits, closed, fail, giveBack, reset, succeed } from './breaker.ts';

/** Refused at once, without a call: wait until `nextAttemptAt` (epoch milliseconds; null: until the trial under way has ended). */
export class BreakerOpen extends Error {
  override readonly name = 'BreakerOpen';
  readonly breaker: string;
  readonly nextAttemptAt: number | null;
  constructor(breaker: string, nextAttemptAt: number | null) {
    const next =
      nextAttemptAt === null
        ? 'a trial call is under way: wait for its end'
        : `no attempt before ${new Date(nextAttemptAt).toISOString()}: wait until then, or do something else`;
    super(`circuit breaker ${breaker} is open; ${next}`);
    this.breaker = breaker;
    this.nextAttemptAt = nextAttemptAt;
  }
}

/** What a thrown error means for what the breaker protects. `nothing`: the caller's own mistake, a rate limit, a cancellation. */
export type Meaning = 'failure' | 'success' | 'nothing';

/** One breaker around calls. */
export type Guard = {
  readonly name: string;
  readonly breaker: () => Breaker;
  /** Runs the call, or rejects with BreakerOpen without running it. Any value that the call throws counts, and is thrown again. */
  readonly run: <T>(call: () => T | Promise<T>, meaning?: (error: unknown) => Meaning) => Promise<T>;
  /** Closed by hand. */
  readonly reset: () => void;
};

/** `from`: the stored breaker to continue with. `now`: epoch milliseconds. */
export function guard(name: string, limits: BreakerLimits, now: () => number, from: Breaker = closed): Guard {
  // A trial that another process began will not report a result.
  let breaker: Breaker = from.state === 'HALF_OPEN' ? { ...from, admitted: 0 } : from;
  return {
    name,
    breaker: () => breaker,
    reset: () => {
      breaker = reset(breaker);
    },
    run: async (call, meaning = () => 'failure') => {
      const answer = ask(breaker, limits, now());
      if (answer.kind === 'refused') throw new BreakerOpen(name, answer.nextAttemptAt);
      breaker = answer.breaker;
      let meant: Meaning = 'failure';
      try {
        const result = await call();
        meant = 'success';
        return result;
      } catch (error) {
        meant = meaning(error);
        throw error;
      } finally {
        breaker = after(breaker, answer.generation, meant, limits, now());
      }
    },
  };
}

function after(breaker: Breaker, generation: number, meaning: Meaning, limits: BreakerLimits, now: number): Breaker {
  switch (meaning) {
    case 'failure':
      return fail(breaker, generation, limits, now);
    case 'success':
      return succeed(breaker, generation);
    case 'nothing':
      return giveBack(breaker, generation);
  }
}
