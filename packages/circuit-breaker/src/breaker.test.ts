import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { admit, admitsFrom, ask, type Breaker, closed, fail, giveBack, reset, succeed, tryAgain } from './breaker.ts';

const limits = { failureThreshold: 3, recoveryTimeoutMs: 1000, halfOpenRequests: 1 };

/** One request and its end, at `now`. A refused request leaves the breaker unchanged. */
const through = (breaker: Breaker, how: 'ok' | 'error', now = 0): Breaker => {
  const answer = ask(breaker, limits, now);
  if (answer.kind === 'refused') return breaker;
  const { breaker: admitted, generation } = answer;
  return how === 'ok' ? succeed(admitted, generation) : fail(admitted, generation, limits, now);
};
const opened = (now = 0): Breaker => [1, 2, 3].reduce((b) => through(b, 'error', now), closed);

const admitted = (breaker: Breaker, now: number, most = limits) => {
  const answer = ask(breaker, most, now);
  if (answer.kind === 'refused') throw new Error(`refused until ${answer.nextAttemptAt}`);
  return answer;
};

describe('closed', () => {
  test('admits every request', () => {
    expect(ask(closed, limits, 0)).toEqual({ kind: 'admitted', breaker: closed, generation: 0 });
  });

  test('stays closed below its threshold of failures, and opens at it', () => {
    const two = through(through(closed, 'error', 5), 'error', 5);
    expect(two).toEqual({ state: 'CLOSED', generation: 0, failures: 2 });
    expect(through(two, 'error', 5)).toEqual({ state: 'OPEN', generation: 1, failures: 3, nextAttemptAt: 1005 });
  });

  test('counts failures in a row: a success in between restarts the count', () => {
    const after = ['error', 'error', 'ok', 'error', 'error'].reduce((b, how) => through(b, how as 'ok'), closed);
    expect(after).toMatchObject({ state: 'CLOSED', failures: 2 });
  });

  test('counts the failures of concurrent requests even if one of them succeeds', () => {
    const { generation } = admitted(closed, 0);
    const one = succeed(fail(closed, generation, limits, 0), generation);
    const three = [1, 2, 3].reduce((b) => fail(b, generation, limits, 0), one);
    expect(three.state).toBe('OPEN');
  });

  test('with a threshold of one opens on the first failure', () => {
    expect(fail(closed, 0, { ...limits, failureThreshold: 1 }, 0).state).toBe('OPEN');
  });
});

describe('open', () => {
  test('refuses every request until its timeout is over, and reports that time', () => {
    expect(ask(opened(), limits, 0)).toEqual({ kind: 'refused', nextAttemptAt: 1000 });
    expect(ask(opened(), limits, 999)).toEqual({ kind: 'refused', nextAttemptAt: 1000 });
    expect(ask(opened(), limits, 1000).kind).toBe('admitted');
  });

  test('ignores the results of requests that began before it opened, also after its timeout', () => {
    const open = opened();
    expect(succeed(open, 0)).toBe(open);
    expect(fail(open, 0, limits, 500)).toBe(open);
    expect(fail(open, open.generation, limits, 500)).toBe(open);
    expect(succeed(open, open.generation)).toBe(open);
  });
});

describe('half open', () => {
  const trial = admitted(opened(), 1000);

  test('the first request after the timeout is the trial', () => {
    expect(trial.breaker).toEqual({ state: 'HALF_OPEN', generation: 2, failures: 3, admitted: 1, trialAt: 1000 });
  });

  test('one trial at a time: another is refused until it has ended', () => {
    expect(ask(trial.breaker, limits, 1001)).toEqual({ kind: 'refused', nextAttemptAt: 2000 });
    expect(ask(trial.breaker, limits, 1999).kind).toBe('refused');
  });

  test('a trial whose end is not reported within the timeout makes room for another; its end still counts', () => {
    const second = admitted(trial.breaker, 2000);
    expect(ask(second.breaker, limits, 2999)).toEqual({ kind: 'refused', nextAttemptAt: 3000 });
    expect(ask(second.breaker, limits, 3000).kind).toBe('admitted');
    expect(succeed(second.breaker, trial.generation).state).toBe('CLOSED');
    expect(fail(second.breaker, trial.generation, limits, 2500)).toMatchObject({ state: 'OPEN', nextAttemptAt: 3500 });
  });

  test('a trial that is counted without a start time keeps its place until it has ended', () => {
    const counted = admit(tryAgain(opened()));
    expect(admitsFrom(counted, limits)).toBe(Number.POSITIVE_INFINITY);
    expect(ask(counted, limits, 9999)).toEqual({ kind: 'refused', nextAttemptAt: null });
  });

  test('as many trials at a time as configured, and not one more', () => {
    const two = { ...limits, halfOpenRequests: 2 };
    const second = admitted(trial.breaker, 1000, two);
    expect(ask(second.breaker, two, 1000).kind).toBe('refused');
    expect(ask(giveBack(second.breaker), two, 1000).kind).toBe('admitted');
  });

  test('a success closes it, and a failure opens it again for a whole timeout', () => {
    expect(succeed(trial.breaker, trial.generation)).toEqual({ state: 'CLOSED', generation: 3, failures: 0 });
    const again = fail(trial.breaker, trial.generation, limits, 1700);
    expect(again).toEqual({ state: 'OPEN', generation: 3, failures: 4, nextAttemptAt: 2700 });
  });

  test('a trial that does not count frees its place; one of an earlier generation frees nothing', () => {
    const free = giveBack(trial.breaker, trial.generation);
    expect(ask(free, limits, 1000).kind).toBe('admitted');
    expect(giveBack(trial.breaker, 0)).toBe(trial.breaker);
    expect(giveBack(free)).toMatchObject({ admitted: 0 });
  });

  test('results of requests that began earlier, closed or open, change nothing', () => {
    for (const generation of [0, 1]) {
      expect(succeed(trial.breaker, generation)).toBe(trial.breaker);
      expect(fail(trial.breaker, generation, limits, 1500)).toBe(trial.breaker);
    }
  });

  test('the second of two trials has no effect when the first has decided', () => {
    const two = { ...limits, halfOpenRequests: 2 };
    const both = admitted(trial.breaker, 1000, two);
    const shut = succeed(both.breaker, both.generation);
    expect(fail(shut, both.generation, limits, 1100)).toBe(shut);
    const open = fail(both.breaker, both.generation, limits, 1100);
    expect(succeed(open, both.generation)).toBe(open);
  });
});

test('a person can start a trial before the timeout, and can close it; then running calls have no effect', () => {
  expect(ask(tryAgain(opened()), limits, 1).kind).toBe('admitted');
  const shut = reset(opened());
  expect(shut).toEqual({ state: 'CLOSED', generation: 2, failures: 0 });
  expect(fail(shut, 0, { ...limits, failureThreshold: 1 }, 1)).toBe(shut);
  expect(reset(closed)).toBe(closed);
  expect(tryAgain(closed)).toBe(closed);
});

describe('any sequence of results and waits', () => {
  type Step = 'ask' | 'ok' | 'error' | 'none' | 'wait' | 'reset';
  const step = fc.oneof(
    { weight: 8, arbitrary: fc.constant<Step>('ask') },
    { weight: 6, arbitrary: fc.constant<Step>('error') },
    { weight: 2, arbitrary: fc.constant<Step>('wait') },
    { weight: 1, arbitrary: fc.constantFrom<Step>('ok', 'none', 'reset') },
  );
  const steps = fc.array(step, { maxLength: 60, size: 'max' });

  /** The results, step by step; `keep` is applied to the breaker between two steps. */
  const story = (all: readonly Step[], keep: (b: Breaker) => Breaker): Breaker[] => {
    let breaker: Breaker = closed;
    let now = 0;
    const underWay: number[] = [];
    return all.map((step) => {
      breaker = keep(breaker);
      now += step === 'wait' ? limits.recoveryTimeoutMs : 1;
      const answer = step === 'ask' ? ask(breaker, limits, now) : null;
      if (answer?.kind === 'admitted') {
        underWay.push(answer.generation);
        breaker = answer.breaker;
      }
      if (step === 'reset') breaker = reset(breaker);
      const generation = step === 'ok' || step === 'error' || step === 'none' ? underWay.shift() : undefined;
      if (generation !== undefined && step === 'ok') breaker = succeed(breaker, generation);
      if (generation !== undefined && step === 'error') breaker = fail(breaker, generation, limits, now);
      if (generation !== undefined && step === 'none') breaker = giveBack(breaker, generation);
      return breaker;
    });
  };

  test('it is plain data in all three states: it behaves the same after storing and reading', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(steps, (all) => {
        const kept = story(all, (b) => JSON.parse(JSON.stringify(b)));
        expect(kept).toEqual(story(all, (b) => b));
        for (const { state } of kept) seen.add(state);
      }),
    );
    expect([...seen].sort()).toEqual(['CLOSED', 'HALF_OPEN', 'OPEN']);
  });

  test('its generation rises with its state and never falls, and no more trials are under way than allowed', () => {
    fc.assert(
      fc.property(steps, (all) => {
        story(all, (b) => b).reduce((before, b) => {
          expect(b.generation).toBeGreaterThanOrEqual(before.generation);
          if (b.state !== before.state) expect(b.generation).toBeGreaterThan(before.generation);
          if (b.state === 'HALF_OPEN') expect(b.admitted).toBeLessThanOrEqual(limits.halfOpenRequests);
          return b;
        }, closed);
      }),
    );
  });

  test('it never blocks for ever: it admits a request once its timeout is over and all running requests have ended', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const ending = [...all, ...all.map((): Step => 'error'), 'wait' as const, 'ask' as const];
        expect(story(ending, (b) => b).at(-1)?.state).not.toBe('OPEN');
      }),
    );
  });
});
