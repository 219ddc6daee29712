import { expect, test } from 'vitest';
import { emitted, feeding } from '../processor/fold.fixture.ts';

const traceparent = (n: number) => `00-${String(n).padStart(32, '0')}-b7ad6b7169203331-01`;
const tracesOf = (outs: ReturnType<ReturnType<typeof feeding>['give']>) =>
  outs.filter((out) => emitted([out]).length > 0).map(({ headers }) => headers?.traceparent);

const traced = (one: ReturnType<typeof feeding>, at: number, key: string, n: number) =>
  one.give('run.in', at, key, one.event('HEARTBEAT', { eventId: `e${n}`, correlationId: `c${n}` }), {
    headers: { traceparent: traceparent(n) },
  });

test('the event of a deadline continues the trace of the last input of its key, and of no other key', () => {
  const one = feeding();
  one.tick(0);
  traced(one, 0, 'a', 1);
  traced(one, 0, 'a', 2);
  traced(one, 0, 'b', 3);
  one.tick(1000);
  one.tick(2000);
  expect(tracesOf(one.tick(3000)).toSorted()).toEqual([traceparent(2), traceparent(3)]);
});

test('after an input without a trace, a deadline has none', () => {
  const one = feeding();
  one.tick(0);
  traced(one, 0, 'a', 1);
  one.heartbeat(0, 'a', { eventId: 'e2', correlationId: 'c2' });
  one.tick(1000);
  one.tick(2000);
  expect(tracesOf(one.tick(3000))).toEqual([undefined]);
});
