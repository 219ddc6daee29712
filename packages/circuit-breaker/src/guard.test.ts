import { expect, test } from 'vitest';
import { type Breaker, BreakerOpen, closed, guard } from './breaker.ts';

const limits = { failureThreshold: 2, recoveryTimeoutMs: 1000, halfOpenRequests: 1 };

const guarded = (from: Breaker = closed) => {
  let time = 0;
  const it = guard('tool_execution', limits, () => time, from);
  const boom = () => {
    throw new Error('boom');
  };
  return {
    ...it,
    wait: (ms: number) => {
      time += ms;
    },
    boom: () => expect(it.run(boom)).rejects.toThrow('boom'),
  };
};

test('the caller gets the result or the error of the call', async () => {
  const g = guarded();
  await expect(g.run(() => 42)).resolves.toBe(42);
  await expect(g.run(async () => 43)).resolves.toBe(43);
  await g.boom();
  expect(g.breaker()).toMatchObject({ state: 'CLOSED', failures: 1 });
});

test('a call that throws before it returns a promise counts as a failure, like one that rejects', async () => {
  const g = guarded();
  await g.boom();
  await expect(g.run(() => Promise.reject(new Error('later')))).rejects.toThrow('later');
  expect(g.breaker().state).toBe('OPEN');
});

test('an open breaker refuses without a call, with a typed error that names the breaker and the next attempt', async () => {
  const g = guarded();
  await g.boom();
  await g.boom();
  let calls = 0;
  const refused = await g.run(() => ++calls).catch((error: unknown) => error);
  expect(calls).toBe(0);
  expect(refused).toBeInstanceOf(BreakerOpen);
  expect(refused).toMatchObject({ breaker: 'tool_execution', nextAttemptAt: 1000 });
  expect((refused as Error).message).toBe(
    'circuit breaker tool_execution is open; no attempt before 1970-01-01T00:00:01.000Z: wait until then, or do something else',
  );
  g.wait(1000);
  await expect(g.run(() => ++calls)).resolves.toBe(1);
  expect(g.breaker().state).toBe('CLOSED');
});

test('every other call is refused during a trial; a failed trial opens the breaker again', async () => {
  const g = guarded();
  await g.boom();
  await g.boom();
  g.wait(1000);
  const trial = Promise.withResolvers<void>();
  const running = g.run(() => trial.promise);
  await expect(g.run(() => 1)).rejects.toMatchObject({ name: 'BreakerOpen', nextAttemptAt: 2000 });
  trial.reject(new Error('still'));
  await expect(running).rejects.toThrow('still');
  expect(g.breaker()).toMatchObject({ state: 'OPEN', nextAttemptAt: 2000 });
});

test('the late result of a call that began before the breaker opened is ignored', async () => {
  const g = guarded();
  const slow = Promise.withResolvers<void>();
  const running = g.run(() => slow.promise);
  await g.boom();
  await g.boom();
  slow.resolve();
  await running;
  expect(g.breaker().state).toBe('OPEN');
});

test('an error that does not concern the tool is not a failure and uses no trial; one that shows the tool works is a success', async () => {
  const g = guarded();
  const cancelled = () => Promise.reject(new Error('cancelled'));
  await g.boom();
  await expect(g.run(cancelled, () => 'nothing')).rejects.toThrow('cancelled');
  expect(g.breaker()).toMatchObject({ state: 'CLOSED', failures: 1 });
  await g.boom();
  g.wait(1000);
  await expect(g.run(cancelled, () => 'nothing')).rejects.toThrow('cancelled');
  expect(g.breaker()).toMatchObject({ state: 'HALF_OPEN', admitted: 0 });
  await expect(g.run(cancelled, () => 'success')).rejects.toThrow('cancelled');
  expect(g.breaker().state).toBe('CLOSED');
});

test('if the classification of an error throws, the call still counts as a failure', async () => {
  const g = guarded();
  const confused = () => {
    throw new Error('confused');
  };
  await expect(g.run(() => Promise.reject(new Error('boom')), confused)).rejects.toThrow('confused');
  expect(g.breaker()).toMatchObject({ failures: 1 });
});

test('a stored breaker continues, and does not wait for a trial of the previous process', async () => {
  const open: Breaker = { state: 'OPEN', generation: 1, failures: 2, nextAttemptAt: 500 };
  await expect(guarded(open).run(() => 1)).rejects.toThrow(BreakerOpen);
  const trying: Breaker = { state: 'HALF_OPEN', generation: 2, failures: 2, admitted: 1 };
  const g = guarded(trying);
  await expect(g.run(() => 1)).resolves.toBe(1);
  expect(g.breaker().state).toBe('CLOSED');
});

test('a breaker that was closed by hand admits calls at once', async () => {
  const g = guarded({ state: 'OPEN', generation: 1, failures: 2, nextAttemptAt: 500 });
  g.reset();
  await expect(g.run(() => 1)).resolves.toBe(1);
});
