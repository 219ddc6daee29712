import { expect, test } from 'vitest';
import { listening } from '../runner/processors.fixture.ts';
import { emitted, feeding, T } from './fold.fixture.ts';

const task = () => {
  const one = feeding(listening('run', { time: { topic: 'run.in' as never, sources: 'every' } }));
  const receive = (at: number, version: number | null) =>
    emitted(
      one.give(
        'run.other',
        at,
        'a',
        one.event('HEARTBEAT', { eventId: 'e', correlationId: 'c', version, occurredAt: T + at }),
      ),
    );
  one.tick(1000);
  return { ...one, decided: receive };
};

test('an event is not dated before its cause, even if the time of its partition is behind', () => {
  expect(task().decided(4500, 7)[0]).toMatchObject({ occurredAt: T + 4500, payload: { at: T + 1000 } });
});

test('an event of a deadline is not dated before its cause either, also after a restart', () => {
  const { decided: receive, tick, fold } = task();
  receive(9000, 7);
  const [key, bytes] = fold.logic.store.changes()[0]!;
  fold.logic.store.restore(key, bytes);
  const [missing] = emitted([2000, 3000, 4000].flatMap((at) => [...tick(at)]));
  expect(missing).toMatchObject({ type: 'MISSING', occurredAt: T + 9000, payload: { at: T + 4000 } });
});

test('a time from neither the broker nor a decider is not used for dating', () => {
  expect(task().decided(4500, null)[0]).toMatchObject({ occurredAt: T + 1000 });
});
