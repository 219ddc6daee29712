/** The threshold of failures in a row, the timeout of the open state, and the number of concurrent trials after it. */
export type BreakerLimits = {
  readonly failureThreshold: number;
  readonly recoveryTimeoutMs: number;
  readonly halfOpenRequests: number;
};

/**
 * A circuit breaker as plain data (CODITECT `ADR-110`, section 4). `trialAt`: when the newest trial was requested,
 * epoch milliseconds. `generation` rises with each change of state: results of requests from an earlier generation are
 * ignored.
 */
export type Breaker =
  | { readonly state: 'CLOSED'; readonly generation: number; readonly failures: number }
  | { readonly state: 'OPEN'; readonly generation: number; readonly failures: number; readonly nextAttemptAt: number }
  | {
      readonly state: 'HALF_OPEN';
      readonly generation: number;
      readonly failures: number;
      readonly admitted: number;
      readonly trialAt?: number;
    };

export const closed: Breaker = { state: 'CLOSED', generation: 0, failures: 0 };

/** Closes the breaker, by hand or because there is nothing left to protect. Results of running calls are ignored. */
export const reset = (breaker: Breaker): Breaker =>
  breaker.state === 'CLOSED' && breaker.failures === 0
    ? breaker
    : { state: 'CLOSED', generation: breaker.generation + 1, failures: 0 };

/** Makes the next request a trial, after the timeout or on a person's request. */
export const tryAgain = (breaker: Breaker): Breaker => {
  if (breaker.state !== 'OPEN') return breaker;
  return { state: 'HALF_OPEN', generation: breaker.generation + 1, failures: breaker.failures, admitted: 0 };
};

/**
 * When the next request is admitted, epoch milliseconds. A trial of `ask` blocks others only for the timeout, because
 * its end may never be reported. A trial of `admit` keeps its place until it has ended (infinity).
 */
export const admitsFrom = (breaker: Breaker, limits: BreakerLimits): number => {
  switch (breaker.state) {
    case 'CLOSED':
      return 0;
    case 'OPEN':
      return breaker.nextAttemptAt;
    case 'HALF_OPEN':
      if (breaker.admitted < limits.halfOpenRequests) return 0;
      return (breaker.trialAt ?? Number.POSITIVE_INFINITY) + limits.recoveryTimeoutMs;
  }
};

/** Counts a running request. */
export const admit = (breaker: Breaker): Breaker =>
  breaker.state === 'HALF_OPEN' ? { ...breaker, admitted: breaker.admitted + 1 } : breaker;

/**
 * `generation`: to pass with the request's result. `nextAttemptAt`: the latest time of the next attempt; the end of a
 * running trial permits it earlier. Null: only that end does.
 */
export type Admission =
  | { readonly kind: 'admitted'; readonly breaker: Breaker; readonly generation: number }
  | { readonly kind: 'refused'; readonly nextAttemptAt: number | null };

/**
 * Requests admission at `now`. The first admission after the timeout is a trial. An admitted request ends with
 * `succeed`, `fail` or `giveBack`.
 */
export const ask = (breaker: Breaker, limits: BreakerLimits, now: number): Admission => {
  const from = admitsFrom(breaker, limits);
  if (now < from) return { kind: 'refused', nextAttemptAt: Number.isFinite(from) ? from : null };
  const admitted = withTrial(admit(freed(tryAgain(breaker), limits)), now);
  return { kind: 'admitted', breaker: admitted, generation: admitted.generation };
};

/** Frees one place if all trials are overdue. */
const freed = (breaker: Breaker, { halfOpenRequests }: BreakerLimits): Breaker =>
  breaker.state === 'HALF_OPEN' && breaker.admitted >= halfOpenRequests
    ? { ...breaker, admitted: halfOpenRequests - 1 }
    : breaker;

const withTrial = (breaker: Breaker, trialAt: number): Breaker =>
  breaker.state === 'HALF_OPEN' ? { ...breaker, trialAt } : breaker;

/** Ends a request that does not count as one, and frees its place. */
export const giveBack = (breaker: Breaker, generation: number = breaker.generation): Breaker => {
  if (breaker.state !== 'HALF_OPEN' || generation !== breaker.generation) return breaker;
  return { ...breaker, admitted: Math.max(0, breaker.admitted - 1) };
};

/** Ends the row of failures. The success of a trial closes the breaker. */
export const succeed = (breaker: Breaker, generation: number): Breaker => {
  if (generation !== breaker.generation || breaker.state === 'OPEN') return breaker;
  if (breaker.state === 'HALF_OPEN') return reset(breaker);
  return breaker.failures === 0 ? breaker : { ...breaker, failures: 0 };
};

/** Counts a failure. The last one of the threshold, or that of a trial, opens the breaker. */
export const fail = (breaker: Breaker, generation: number, limits: BreakerLimits, now: number): Breaker => {
  if (generation !== breaker.generation || breaker.state === 'OPEN') return breaker;
  const failures = breaker.failures + 1;
  if (breaker.state === 'CLOSED' && failures < limits.failureThreshold) return { ...breaker, failures };
  return {
    state: 'OPEN',
    generation: breaker.generation + 1,
    failures,
    nextAttemptAt: now + limits.recoveryTimeoutMs,
  };
};

/**
 * A call was refused without being made. Wait until `nextAttemptAt` (epoch milliseconds; null: until the running trial
 * has ended).
 */
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

/**
 * The meaning of a thrown error for the protected service. `nothing`: the caller's own mistake, a rate limit, or a
 * cancellation.
 */
export type Meaning = 'failure' | 'success' | 'nothing';

/** One breaker around calls. */
export type Guard = {
  readonly name: string;
  readonly breaker: () => Breaker;
  /**
   * Runs the call, or rejects with BreakerOpen without running it. Any value that the call throws counts, and is
   * rethrown.
   */
  readonly run: <T>(call: () => T | Promise<T>, meaning?: (error: unknown) => Meaning) => Promise<T>;
  /** Closes the breaker by hand. */
  readonly reset: () => void;
};

/** `from`: the stored breaker to continue with. `now`: epoch milliseconds. */
export const guard = (name: string, limits: BreakerLimits, now: () => number, from: Breaker = closed): Guard => {
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
};

const after = (breaker: Breaker, generation: number, meaning: Meaning, limits: BreakerLimits, now: number): Breaker => {
  switch (meaning) {
    case 'failure':
      return fail(breaker, generation, limits, now);
    case 'success':
      return succeed(breaker, generation);
    case 'nothing':
      return giveBack(breaker, generation);
  }
};

type CallResult = { readonly outcome: string; readonly error_class: string | null };

/**
 * How an ended call of an agent counts; `none`: not at all. A command's exit code and a person's interruption are not
 * failures of the tool. An overloaded service is not a failure either: the agent waits for it.
 */
export const callResult = ({ outcome, error_class }: CallResult): 'ok' | 'error' | 'none' => {
  if (outcome === 'ok') return 'ok';
  if (outcome !== 'error' || error_class === 'aborted' || error_class === 'rate_limit') return 'none';
  return error_class?.startsWith('exit_') ? 'ok' : 'error';
};
