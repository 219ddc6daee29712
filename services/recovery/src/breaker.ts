/** How often an attempt may fail in a row, and how long the pause is then. */
export type BreakerLimits = {
  readonly failureThreshold: number;
  readonly recoveryTimeoutMs: number;
  readonly halfOpenRequests: number;
};

/**
 * A circuit breaker as plain data (ADR-110, section 5). `generation` rises with each change of state:
 * a result that was begun in an earlier one says nothing about this one and is ignored.
 */
export type Breaker =
  | { readonly state: 'CLOSED'; readonly generation: number; readonly failures: number }
  | { readonly state: 'OPEN'; readonly generation: number; readonly failures: number; readonly nextAttemptAt: number }
  | { readonly state: 'HALF_OPEN'; readonly generation: number; readonly failures: number; readonly admitted: number };

export const closed: Breaker = { state: 'CLOSED', generation: 0, failures: 0 };

/** Closed by hand, or because there is nothing left to protect. */
export function reset(breaker: Breaker): Breaker {
  return breaker.state === 'CLOSED' && breaker.failures === 0
    ? breaker
    : { state: 'CLOSED', generation: breaker.generation + 1, failures: 0 };
}

/** The next request is a trial: the timeout is over, or a person asked. */
export function tryAgain(breaker: Breaker): Breaker {
  if (breaker.state !== 'OPEN') return breaker;
  return { state: 'HALF_OPEN', generation: breaker.generation + 1, failures: breaker.failures, admitted: 0 };
}

/** From when a request is admitted, epoch milliseconds; NEVER while all trials of HALF_OPEN are under way. */
export function admitsFrom(breaker: Breaker, limits: BreakerLimits): number {
  switch (breaker.state) {
    case 'CLOSED':
      return 0;
    case 'OPEN':
      return breaker.nextAttemptAt;
    case 'HALF_OPEN':
      return breaker.admitted < limits.halfOpenRequests ? 0 : Number.POSITIVE_INFINITY;
  }
}

/** A request is under way. */
export function admit(breaker: Breaker): Breaker {
  return breaker.state === 'HALF_OPEN' ? { ...breaker, admitted: breaker.admitted + 1 } : breaker;
}

/** A request has turned out not to be one: its place is free again. */
export function giveBack(breaker: Breaker): Breaker {
  return breaker.state === 'HALF_OPEN' ? { ...breaker, admitted: Math.max(0, breaker.admitted - 1) } : breaker;
}

export function succeed(breaker: Breaker, generation: number): Breaker {
  return generation === breaker.generation ? reset(breaker) : breaker;
}

export function fail(breaker: Breaker, generation: number, limits: BreakerLimits, now: number): Breaker {
  if (generation !== breaker.generation || breaker.state === 'OPEN') return breaker;
  const failures = breaker.failures + 1;
  if (breaker.state === 'CLOSED' && failures < limits.failureThreshold) return { ...breaker, failures };
  return {
    state: 'OPEN',
    generation: breaker.generation + 1,
    failures,
    nextAttemptAt: now + limits.recoveryTimeoutMs,
  };
}
